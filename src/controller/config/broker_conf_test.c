/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of MQTT. */
#include "controller/config/config_fixture_test.h"
#include "driver/mqtt.h"

#include <string.h>

static void test_bad_parameters_of_the_broker(void **state)
{
    static const struct {
        const char *text, *why;
    } mistakes[] = {
        {"MqttBroker = a:b\n", "fettle.conf:3: MqttBroker: \"a:b\" does not end with a port"},
        {"MqttBroker = ::1\n", "fettle.conf:3: MqttBroker: \"::1\" is not a broker like mqtt.example:1883"},
        {"MqttPrefix = a/#\n",
         "fettle.conf:3: MqttPrefix: \"a/#\" is not the beginning of a topic like site/fettle"},
        {"MqttEvents = a/b, c/#/d\n", "fettle.conf:3: MqttEvents: \"c/#/d\" is no topic to subscribe to"},
        {"MqttCertificate = /etc/own.pem\nMqttCA = /etc/ca.pem\n",
         "fettle.conf:3: MqttCertificate: a certificate without MqttKey and MqttCA"},
        {"MqttCertificate = /etc/own.pem\nMqttKey = /etc/own.key\n",
         "fettle.conf:3: MqttCertificate: a certificate without MqttKey and MqttCA"},
        {"MqttKey = /etc/own.key\n", "fettle.conf:3: MqttKey: a key without MqttCertificate"},
        {"MqttPasswordFile = /etc/secret\n", "fettle.conf:3: MqttPasswordFile: a password without MqttUser"},
        {"MqttBroker = [::1\n", "fettle.conf:3: MqttBroker: \"[::1\" is not an address in brackets"},
        {"MqttBroker = [::1]1883\n",
         "fettle.conf:3: MqttBroker: \"[::1]1883\" is not an address in brackets"},
        {"MqttBroker = []:1883\n",
         "fettle.conf:3: MqttBroker: \"[]:1883\" is not a broker like mqtt.example:1883"},
        {"MqttBroker = :1883\n",
         "fettle.conf:3: MqttBroker: \":1883\" is not a broker like mqtt.example:1883"},
        {"MqttBroker = mqtt://a\n", "fettle.conf:3: MqttBroker: \"mqtt://a\" does not end with a port"},
        {"MqttBroker = ann@a:1\n",
         "fettle.conf:3: MqttBroker: \"ann@a:1\" is not a broker like mqtt.example:1883"},
        {"MqttBroker = a:0\n", "fettle.conf:3: MqttBroker: \"a:0\" does not end with a port"},
        {"MqttBroker = a:65536\n", "fettle.conf:3: MqttBroker: \"a:65536\" does not end with a port"},
        {"MqttPrefix = /a\n",
         "fettle.conf:3: MqttPrefix: \"/a\" is not the beginning of a topic like site/fettle"},
        {"MqttPrefix = a/\n",
         "fettle.conf:3: MqttPrefix: \"a/\" is not the beginning of a topic like site/fettle"},
        {"MqttPrefix = a//b\n",
         "fettle.conf:3: MqttPrefix: \"a//b\" is not the beginning of a topic like site/fettle"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        assert_string_equal(config_bad(mistakes[i].text, "Name=lx01\n", NULL), mistakes[i].why);
}

static void assert_broker(const char *parameters, const char *host, unsigned port)
{
    struct config c = config_good(parameters, "Name=lx01\n", NULL);
    assert_string_equal(c.mqtt.host, host);
    assert_int_equal(c.mqtt.port, port);
    config_fini(&c);
}

static void test_a_broker_has_a_host_and_the_usual_port(void **state)
{
    assert_broker("MqttBroker = mqtt.example\n", "mqtt.example", 1883);
    assert_broker("MqttBroker = mqtt.example\nMqttCA = /etc/ca.pem\n", "mqtt.example", 8883);
    assert_broker("MqttBroker = mqtt.example:1\n", "mqtt.example", 1);
    assert_broker("MqttBroker = mqtt.example:65535\n", "mqtt.example", 65535);
    assert_broker("MqttBroker = [2001:db8::1]\n", "2001:db8::1", 1883);
    assert_broker("MqttBroker = [2001:db8::1]:1884\n", "2001:db8::1", 1884);
    assert_broker("", "", 0);
}

/* Two of a client's topics are Fettle's own. */
static void test_topics_are_a_list_with_a_limit(void **state)
{
    CLEANUP_TEXT struct text t = {0};
    text_add(&t, "MqttEvents = site/a , site/+/b");
    for (int i = 2; i < MQTT_TOPICS_MAX - 2; i++)
        text_printf(&t, ",t/%d", i);
    CLEANUP_TEXT struct text most = {0}, more = {0};
    text_printf(&most, "%s\n", t.s);
    text_printf(&more, "%s,one/more\n", t.s);
    struct config c = config_good(most.s, "Name=lx01\n", NULL);
    assert_int_equal(c.mqtt.topics.n, MQTT_TOPICS_MAX - 2);
    assert_string_equal(c.mqtt.topics.names[0], "site/a");
    assert_string_equal(c.mqtt.topics.names[1], "site/+/b");
    config_fini(&c);
    CLEANUP_TEXT struct text why = {0};
    text_printf(&why, "fettle.conf:3: MqttEvents: more than %d topics", MQTT_TOPICS_MAX - 2);
    assert_string_equal(config_bad(more.s, "Name=lx01\n", NULL), why.s);
}

static void test_a_certificate_with_its_key_is_taken(void **state)
{
    assert_broker("MqttBroker = a\nMqttCA = /etc/ca.pem\nMqttCertificate = /etc/own.pem\n"
                  "MqttKey = /etc/own.key\nMqttUser = fettle\nMqttPasswordFile = /etc/secret\n",
                  "a", 8883);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, config_setup, config_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bad_parameters_of_the_broker),
        TEST(test_a_broker_has_a_host_and_the_usual_port),
        TEST(test_topics_are_a_list_with_a_limit),
        TEST(test_a_certificate_with_its_key_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
