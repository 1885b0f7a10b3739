# SPDX-License-Identifier: Apache-2.0
"""Bearer tokens of npm's oidc-provider: a person who signs in, a program, keys that change, and tokens that are forged or
meant for others. Roles and the person behind root, by the tool."""
import base64
import hashlib
import hmac
import http.client
import json
import os
import secrets
import signal
import ssl
import sys
import urllib.parse

from harness import BUILD, CALM, Controller, Skipped, check, contains, equal, free_port, main, need_root, openssl, wait

PROVIDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oidc', 'provider.mjs')
NODES = 'Name=n[01-04]\n'
ROLES = 'Role=operator SubjectGroups=hpc-ops\nRole=viewer Subjects=bob\n'
AGAIN = 60  # s: keys are asked for again after 30 s


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=').decode()


class Provider:
    """The provider, and a client of it that signs in."""

    def __init__(self, world):
        packages = os.path.join(BUILD, 'oidc')
        if not os.path.isdir(os.path.join(packages, 'node_modules')):
            raise Skipped(f'needs {packages}; tools/check installs it with npm')
        self.world, self.port = world, free_port()
        self.ca, self.key = world.path('provider.pem'), world.path('provider.key')
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', self.key, '-out',
                self.ca, '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost')
        os.chmod(self.ca, 0o644)
        self.issuer = f'https://localhost:{self.port}'
        self.argv = ['node', PROVIDER, packages, str(self.port), self.ca, self.key, 'fettle']
        self.start()

    def start(self):
        self.process = self.world.start('provider', self.argv)
        wait('the provider hears', lambda: 'ready' in self.process.log())

    def rotate(self):
        self.process.send(signal.SIGUSR2)
        wait('it has other keys', lambda: 'rotated' in self.process.log())

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPSConnection('localhost', self.port, context=ssl.create_default_context(cafile=self.ca))
        try:
            connection.request(method, path, body and urllib.parse.urlencode(body),
                               {'Content-Type': 'application/x-www-form-urlencoded', **(headers or {})})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def token(self, **body):
        answer, said = self.ask('POST', '/token', body)
        equal(answer.status, 200, f'the provider: {said}')
        return json.loads(said)

    def sign_in(self, person, audience='fettle'):
        """The authorization code flow with PKCE, as a browser and a client go through it. What the client is given."""
        verifier, cookies = secrets.token_urlsafe(48), {}
        target = '/auth?' + urllib.parse.urlencode({
            'client_id': 'portal', 'response_type': 'code', 'redirect_uri': f'{self.issuer}/done', 'scope': 'openid profile',
            'resource': f'urn:test:{audience}', 'login_hint': person, 'code_challenge_method': 'S256',
            'code_challenge': b64(hashlib.sha256(verifier.encode()).digest())})
        while not target.startswith('/done'):
            answer, said = self.ask('GET', target, headers={'Cookie': '; '.join(f'{k}={v}' for k, v in cookies.items())})
            check(answer.status in (302, 303), f'{target}: {answer.status} {said}')
            for line in answer.headers.get_all('Set-Cookie') or []:
                name, _, value = line.split(';')[0].partition('=')
                cookies[name] = value
            target = answer.headers['Location'].removeprefix(self.issuer)
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query)['code'][0]
        return self.token(grant_type='authorization_code', client_id='portal', code=code, code_verifier=verifier,
                          redirect_uri=f'{self.issuer}/done', resource=f'urn:test:{audience}')

    def robot(self):
        return self.token(grant_type='client_credentials', client_id='robot', client_secret='secret-of-the-robot',
                          resource='urn:test:fettle', scope='profile')['access_token']

    def keys(self):
        return json.loads(self.ask('GET', '/jwks')[1])['keys']


def controlled(world, provider, roles=ROLES, **settings):
    c = Controller(world, NODES, start=False, RoleConf=world.write('roles.conf', roles), OidcIssuer=provider.issuer,
                   OidcAudience='fettle', OidcCA=provider.ca, **CALM, **settings)
    c.start()
    return c


def with_token(c, token, *words, mode=0o600, status=0):
    """The tool over HTTPS with a token in a file: what it printed."""
    path = c.world.write('token', token + '\n')
    os.chmod(path, mode)
    got, out, err = c.fettle_run(*words, '--controller', f'https://localhost:{c.https}', '--ca', os.path.join(c.state, 'ca.pem'),
                                 '--token', path)
    equal(got, status, f'fettle {" ".join(words)}: {out}{err}: the exit status')
    return out if status == 0 else err


def raw(c, token, path='/v1/nodes'):
    """An exchange by hand with a token: (status, the error's code, its sentence)."""
    connection = c.https_connection()
    try:
        connection.request('GET', path, headers={'Authorization': f'Bearer {token}'})
        answer = connection.getresponse()
        said = json.loads(answer.read()).get('error', {})
        return answer.status, said.get('code'), said.get('message', '')
    finally:
        connection.close()


# --- the flow ------------------------------------------------------------------------------------


def test_a_person_signs_in(world):
    p = Provider(world)
    c = controlled(world, p)
    ann = p.sign_in('ann')['access_token']
    who = json.loads(with_token(c, ann, 'whoami', '--json'))
    equal({k: who[k] for k in ('kind', 'name', 'subject', 'person', 'actor', 'roles')},
          {'kind': 'token', 'name': 'Dr. ann', 'subject': 'ann', 'person': True, 'actor': 'Dr. ann (token ann)',
           'roles': ['operator']}, 'whoami')
    check('POST /v1/nodes/drain' in who['routes'] and 'POST /v1/reload' not in who['routes'], f"what she may call: {who['routes']}")
    with_token(c, ann, 'node', 'drain', 'n01', '--reason', 'a test')
    (drained,) = [e for e in c.journal() if e['what'] == 'node.drain']
    equal(drained['actor'], 'Dr. ann (token ann)', 'the journal')
    contains(with_token(c, ann, 'reload', status=5), 'the subject "ann" has the role operator; this needs the role administrator',
             'what she may not')
    bob = p.sign_in('bob')['access_token']
    contains(with_token(c, bob, 'node', 'list'), 'n01', 'the subject of a record reads')
    contains(with_token(c, bob, 'node', 'drain', 'n02', '--reason', 'x', status=5), 'has the role viewer', 'and changes nothing')


def test_a_program_is_no_person(world):
    p = Provider(world)
    c = controlled(world, p)
    robot = p.robot()
    who = json.loads(with_token(c, robot, 'whoami', '--json'))
    equal((who['subject'], who['person'], who['roles']), ('robot', False, []), 'whoami')
    contains(with_token(c, robot, 'node', 'list', status=5), 'the subject "robot" has no role here', 'why not')
    world.write('roles.conf', ROLES + 'Role=scheduler Subjects=robot\n')
    c.fettle('reload')
    with_token(c, robot, 'node', 'list')
    contains(with_token(c, robot, 'journal', status=5), 'has the role scheduler; this needs the role viewer or operator', 'why not')


def test_roles_hold_for_the_tenants_of_a_token(world):
    p = Provider(world)
    world.write('tenants', 'Tenant=physics Nodes=2\nTenant=bio\n')
    c = controlled(world, p, 'Role=tenant-administrator Subjects=paula TokenTenants=yes\nRole=claimant Subjects=carl,robot '
                   'TokenTenants=yes\n', TenantConf=world.path('tenants'))
    paula, carl = (p.sign_in(who)['access_token'] for who in ('paula', 'carl'))
    contains(with_token(c, paula, 'whoami'), 'physics: tenant-administrator', 'what she is')
    with_token(c, paula, 'owner', 'claim', 'n[01-02]', '--owner', 'physics/batch:1')
    contains(with_token(c, paula, 'owner', 'claim', 'n03', '--owner', 'physics', status=3), 'its quota is 2', 'the quota')
    contains(with_token(c, paula, 'owner', 'claim', 'n03', '--owner', 'bio', status=5), 'no role for the tenant "bio"', 'another tenant')
    c.fettle('owner', 'claim', 'n03', '--owner', 'bio')
    equal([o['Owner'] for o in json.loads(with_token(c, paula, 'owner', 'list', '--json'))], ['physics/batch:1'], 'what she sees')
    contains(with_token(c, paula, 'owner', 'release', '--owner', 'bio', status=5), 'no role for the tenant "bio"', "another's nodes")
    contains(with_token(c, paula, 'node', 'drain', 'n01', '--reason', 'x', status=5), 'has the role tenant-administrator', 'a drain')
    contains(with_token(c, carl, 'owner', 'claim', 'n04', status=2), 'for which tenant?', 'a claimant of two')
    contains(with_token(c, carl, 'owner', 'claim', 'n04', '--owner', 'physics@carl', status=2), 'is not sensitive', 'no sensitive node')
    contains(with_token(c, carl, 'owner', 'claim', 'n04', '--owner', 'physics', status=5), 'has the role claimant', 'for the tenant itself')
    contains(with_token(c, p.robot(), 'owner', 'claim', 'n04', status=5), 'is no person', 'a program')
    (claimed,) = [e for e in c.journal() if e['what'] == 'owner.claim' and e['owner_to'].startswith('physics')]
    equal((claimed['actor'], claimed['owner_to']), ('Dr. paula (token paula)', 'physics/batch:1'), 'the journal')


def test_keys_change_while_it_runs(world):
    p = Provider(world)
    c = controlled(world, p)
    before = p.sign_in('ann')['access_token']
    equal(raw(c, before)[0], 200, 'a token of the first key')
    p.rotate()
    after = p.sign_in('ann')['access_token']
    wait('the new key is known', lambda: raw(c, after)[0] == 200, AGAIN)
    status, code, why = raw(c, before)
    equal((status, code), (401, 'unauthenticated'), f'a token of the old key: {why}')


def test_a_provider_that_is_away(world):
    p = Provider(world)
    c = controlled(world, p)
    ann = p.sign_in('ann')['access_token']
    p.process.stop()
    status, code, why = raw(c, ann)
    equal((status, code), (503, 'unavailable'), why)
    contains(why, 'the keys of the tokens\' issuer are not known', 'why not')
    contains(c.fettle('node', 'list'), 'n01', 'the local socket goes on')


# --- what must not pass ---------------------------------------------------------------------------


def forged(header, claims, sign=lambda data: b''):
    data = f'{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}'
    return f'{data}.{b64(sign(data.encode()))}'


def test_tokens_that_do_not_count(world):
    p = Provider(world)
    c = controlled(world, p)
    given = p.sign_in('ann')
    ann = given['access_token']
    equal(raw(c, ann)[0], 200, 'the token itself')
    head, body, signature = ann.split('.')
    claims = json.loads(base64.urlsafe_b64decode(body + '=='))
    key = next(k for k in p.keys() if k['kty'] == 'RSA')
    public = json.dumps(key).encode()
    cases = {
        'for another audience': (p.sign_in('ann', 'other')['access_token'], 'for another audience'),
        'an id token of the client': (given['id_token'], 'for another audience'),
        'unsigned': (forged({'alg': 'none', 'kid': key['kid']}, claims), 'not signed'),
        'without its signature': (f'{head}.{body}.', 'not signed'),
        'by HMAC with the public key': (forged({'alg': 'HS256', 'kid': key['kid']}, claims,
                                               lambda data: hmac.digest(public, data, 'sha256')), 'signed by HS256'),
        'with other claims': (f'{head}.{b64(json.dumps({**claims, "sub": "root"}).encode())}.{signature}', 'not the issuer'),
        'of an unknown key': (forged({'alg': 'RS256', 'kid': 'made-up'}, claims, lambda data: b'x' * 256), 'no key "made-up"'),
        'huge': ('a' * (9 << 10), 'longer than'),
        'no token': ('abc', 'three parts'),
    }
    for what, (token, why) in cases.items():
        status, code, said = raw(c, token)
        equal((status, code), (401, 'unauthenticated'), f'{what}: {said}')
        contains(said, why, what)
    equal(raw(c, 'a' * (20 << 10))[0], 431, 'longer than all headers')


def test_a_token_is_kept_and_sent_with_care(world):
    p = Provider(world)
    c = controlled(world, p)
    ann = p.sign_in('ann')['access_token']
    contains(with_token(c, ann, 'whoami', mode=0o644, status=5), 'chmod go-rwx', 'a file that others read')
    path = world.write('token', ann)
    os.chmod(path, 0o600)
    who = json.loads(c.fettle('whoami', '--json', env={'FETTLE_TOKEN': path}))
    equal(who['kind'], 'local', 'on the local socket the token is not sent')
    world.write('client.d/fettle/client.conf', f'Name=far Controller=https://localhost:{c.https} CA={c.state}/ca.pem Token={path}\n')
    who = json.loads(c.fettle('whoami', '--json', '--controller', 'far', env={'XDG_CONFIG_HOME': world.path('client.d')}))
    equal(who['subject'], 'ann', 'by client.conf')


def test_the_python_client_has_a_token(world):
    p = Provider(world)
    c = controlled(world, p)
    path = world.write('token', p.sign_in('ann')['access_token'])
    os.chmod(path, 0o600)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'python'))
    import fettle
    who = fettle.Controller(f'https://localhost:{c.https}', ca=os.path.join(c.state, 'ca.pem'), token=path).whoami_show()
    equal(who['subject'], 'ann', 'whoami')


# --- without tokens --------------------------------------------------------------------------------


def test_without_an_issuer_no_token_counts(world):
    c = Controller(world, NODES, **CALM)
    status, code, why = raw(c, 'a.b.c')
    equal((status, code), (401, 'unauthenticated'), why)
    contains(why, 'takes no tokens', 'why not')
    equal(c.ask_https('GET', '/v1/whoami')[0], 401, 'nobody')


def test_the_person_behind_root(world):
    need_root()
    c = Controller(world, NODES, **CALM)

    def sign_in():
        with open('/proc/self/loginuid', 'w', encoding='ascii') as f:
            f.write('1')
    try:
        status, out, err = c.fettle_run('node', 'drain', 'n01', '--reason', 'x', limits=sign_in)
    except Exception as e:
        raise Skipped('nobody can sign in here') from e
    equal(status, 0, out + err)
    (drained,) = [e for e in c.journal() if e['what'] == 'node.drain']
    equal(drained['actor'], 'daemon (as root)', 'the journal')
    status, out, err = c.fettle_run('node', 'drain', 'n02', '--reason', 'x', env={'SUDO_USER': 'daemon', 'SUDO_UID': '1'})
    equal([e['actor'] for e in c.journal() if e['what'] == 'node.drain'][1:], ['root'], 'by the environment nobody is known')


def test_local_users_have_roles(world):
    need_root()
    c = Controller(world, NODES, start=False, RoleConf=world.write('roles.conf', 'Role=operator Users=daemon Groups=mail\n'), **CALM)
    c.start()

    def become(uid, *groups):
        def change():
            os.setgroups(groups)
            os.setgid(65534)
            os.setuid(uid)
        return change
    drain = ('node', 'drain', 'n01', '--reason')
    for who, limits, wanted in (('daemon', become(1), 0), ('one of mail', become(31337, 8), 0), ('another', become(31337), 5)):
        status, out, err = c.fettle_run(*drain, who, limits=limits)
        equal(status, wanted, f'{who}: {out}{err}')
    status, out, err = c.fettle_run('reload', limits=become(1))
    equal(status, 5, out + err)
    contains(err, 'user "daemon" has the role viewer and operator; this needs the role administrator', 'why not')
    os.chmod(world.path('roles.conf'), 0o666)
    contains(c.fettle('reload', status=2), 'others than its owner may write', 'a file that others can write')


if __name__ == '__main__':
    main(at_once=3)
