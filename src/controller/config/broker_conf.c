/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of MQTT. */
#include "controller/config/config_inside.h"
#include "driver/mqtt.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_PLAIN = 1883, PORT_TLS = 8883, OWN_TOPICS = 2 };

static int broker_conf_refuse(const struct config *c, enum setting s, const char *name, const struct err *why,
                              struct err *e)
{
    return err_set(e, -EINVAL, "%s:%d: %s: %s", c->path, c->line[s], name, why->msg);
}

/* HOST, HOST:PORT, or [ADDRESS]:PORT for an address that contains colons. */
static int parse_broker(struct config *c, const char *text, struct err *e)
{
    uint64_t port = *c->text[SETTING_MQTT_CA] ? PORT_TLS : PORT_PLAIN;
    const char *host = text, *end = text + strlen(text), *colon = strrchr(text, ':');
    if (*text == '[') {
        host = text + 1;
        end = strchr(text, ']');
        if (!end || (end[1] && end[1] != ':'))
            return err_set(e, -EINVAL, "\"%s\" is not an address in brackets", text);
        colon = end[1] ? end + 1 : NULL;
    } else if (colon) {
        end = colon;
    }
    if (colon && text_parse_u64(colon + 1, 1, 65535, &port, NULL) < 0)
        return err_set(e, -EINVAL, "\"%s\" does not end with a port", text);
    if (end == host || strcspn(host, " \t/@#?") < (size_t)(end - host) ||
        (*text != '[' && memchr(host, ':', (size_t)(end - host))))
        return err_set(e, -EINVAL, "\"%s\" is not a broker like mqtt.example:1883", text);
    assert((size_t)(end - host) < sizeof c->mqtt.host && "the parameter has a limit");
    snprintf(c->mqtt.host, sizeof c->mqtt.host, "%.*s", (int)(end - host), host);
    c->mqtt.port = (uint16_t)port;
    return 0;
}

static int check_prefix(const char *prefix, struct err *e)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";
    size_t n = strlen(prefix);
    if (strspn(prefix, good) != n || prefix[0] == '/' || prefix[n - 1] == '/' || strstr(prefix, "//"))
        return err_set(e, -EINVAL, "\"%s\" is not the beginning of a topic like site/fettle", prefix);
    return 0;
}

static int read_topics(struct config *c, const char *list, struct err *e)
{
    CLEANUP_FREE char *copy = mem_dup(list);
    char *rest = *copy ? copy : NULL;
    for (char *word; (word = strsep(&rest, ","));) {
        word += strspn(word, " \t");
        word[strcspn(word, " \t")] = '\0';
        if (mqtt_filter_check(word, e) < 0)
            return -EINVAL;
        if (c->mqtt.topics.n == MQTT_TOPICS_MAX - OWN_TOPICS)
            return err_set(e, -EINVAL, "more than %d topics", MQTT_TOPICS_MAX - OWN_TOPICS);
        hostlist_add(&c->mqtt.topics, word);
    }
    return 0;
}

/* The certificate is sent in TLS, and the key proves that it belongs to this controller. */
static int check_certificate(const struct config *c, struct err *e)
{
    bool certificate = *c->text[SETTING_MQTT_CERTIFICATE], key = *c->text[SETTING_MQTT_KEY];
    if (certificate && !(key && *c->text[SETTING_MQTT_CA]))
        return err_set(e, -EINVAL, "%s:%d: MqttCertificate: a certificate without MqttKey and MqttCA",
                       c->path, c->line[SETTING_MQTT_CERTIFICATE]);
    if (key && !certificate)
        return err_set(e, -EINVAL, "%s:%d: MqttKey: a key without MqttCertificate", c->path,
                       c->line[SETTING_MQTT_KEY]);
    return 0;
}

int config_set_broker(struct config *c, struct err *e)
{
    struct err why = {0};
    const char *broker = c->text[SETTING_MQTT_BROKER];
    if (check_prefix(c->text[SETTING_MQTT_PREFIX], &why) < 0)
        return broker_conf_refuse(c, SETTING_MQTT_PREFIX, "MqttPrefix", &why, e);
    if (read_topics(c, c->text[SETTING_MQTT_EVENTS], &why) < 0)
        return broker_conf_refuse(c, SETTING_MQTT_EVENTS, "MqttEvents", &why, e);
    if (*broker && parse_broker(c, broker, &why) < 0)
        return broker_conf_refuse(c, SETTING_MQTT_BROKER, "MqttBroker", &why, e);
    if (*c->text[SETTING_MQTT_PASSWORD_FILE] && !*c->text[SETTING_MQTT_USER])
        return err_set(e, -EINVAL, "%s:%d: MqttPasswordFile: a password without MqttUser", c->path,
                       c->line[SETTING_MQTT_PASSWORD_FILE]);
    return check_certificate(c, e);
}

void config_fini_broker(struct config *c)
{
    hostlist_fini(&c->mqtt.topics);
}
