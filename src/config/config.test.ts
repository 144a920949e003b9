import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ConfigError, describeSettings, doubtsAbout, parseConfig } from './config.ts'

describe('the settings', () => {
  it('have a default each, so that an empty environment starts the platform', () => {
    expect(parseConfig({})).toMatchObject({ httpPort: 3000, sipPort: 5060, sipDigest: ['MD5'] })
  })

  it('are each read by the platform: there is none that does nothing', () => {
    const parts = ['base', 'sound', 'telephony', 'administration', 'secure', 'teams'].map(
      (name) => `parts/${name}.ts`,
    )
    const readers = ['app.ts', 'main.ts', 'network/address-guard.ts', ...parts].map((file) =>
      readFileSync(`${import.meta.dirname}/../${file}`, 'utf8'),
    )
    const text = readers.join('\n')
    const unread = Object.keys(parseConfig({})).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))
    expect(unread).toEqual([])
  })

  it('are all refused at once, each by name and rule', () => {
    const wrong = { SWITCHHOOK_HTTP_PORT: 'x', SWITCHHOOK_RTP_PORTS: '5-1', SWITCHHOOK_SIP_DIGEST: 'SHA-1' }
    expect(() => parseConfig(wrong)).toThrow(ConfigError)
    for (const name of Object.keys(wrong)) expect(() => parseConfig(wrong)).toThrow(`${name} must be`)
  })

  it.each([
    ['MD5', ['MD5']],
    ['SHA-256,MD5', ['SHA-256', 'MD5']],
    ['sha-256, md5', ['SHA-256', 'MD5']],
  ])('take %s as the digest algorithms', (text, algorithms) => {
    expect(parseConfig({ SWITCHHOOK_SIP_DIGEST: text }).sipDigest).toEqual(algorithms)
  })

  it.each(['SWITCHHOOK_ADMIN_API_KEY', 'SWITCHHOOK_ACCOUNT_API_KEY'])('refuse a short %s', (name) => {
    expect(() => parseConfig({ [name]: 'x'.repeat(15) })).toThrow(`${name} must have at least 16 characters`)
    expect(() => parseConfig({ [name]: 'x'.repeat(16) })).not.toThrow()
  })

  it('refuse one key for both the admin and the account: it could be only one of them', () => {
    const key = 'k'.repeat(16)
    const both = { SWITCHHOOK_ADMIN_API_KEY: key, SWITCHHOOK_ACCOUNT_API_KEY: key }
    expect(() => parseConfig(both)).toThrow('SWITCHHOOK_ACCOUNT_API_KEY must not be SWITCHHOOK_ADMIN_API_KEY')
  })

  it('take name servers with and without a port', () => {
    const servers = '192.0.2.53, 127.0.0.1:5353,[2001:db8::53]:53,2001:db8::54'
    expect(parseConfig({ SWITCHHOOK_NAME_SERVERS: servers }).nameServers).toEqual([
      '192.0.2.53',
      '127.0.0.1:5353',
      '[2001:db8::53]:53',
      '2001:db8::54',
    ])
  })

  it.each(['ns.example.com', '192.0.2.53:', '192.0.2.53:0', '[192.0.2]:53', '192.0.2.53;'])(
    'refuse %j as a name server',
    (server) => {
      expect(() => parseConfig({ SWITCHHOOK_NAME_SERVERS: server })).toThrow(
        'SWITCHHOOK_NAME_SERVERS must be',
      )
    },
  )

  it.each(['', 'MD5,MD5', 'MD5;SHA-256', 'none'])('refuse %j as digest algorithms', (text) => {
    expect(() => parseConfig({ SWITCHHOOK_SIP_DIGEST: text })).toThrow('SWITCHHOOK_SIP_DIGEST')
  })

  it.each([
    ['SWITCHHOOK_HTTPPORT', 'SWITCHHOOK_HTTP_PORT'],
    ['SWITCHHOOK_SIP_PROT', 'SWITCHHOOK_SIP_PORT'],
    ['SWITCHHOOK_RTP_PORT_RANGE', 'SWITCHHOOK_RTP_PORTS'],
  ])('refuse %s, which is none of them, and name %s', (wrong, right) => {
    expect(() => parseConfig({ [wrong]: '1' })).toThrow(
      `${wrong} is not a setting: the nearest one is ${right}`,
    )
  })

  it('name none where none is near', () => {
    expect(() => parseConfig({ SWITCHHOOK_HTP: '1' })).toThrow(
      'SWITCHHOOK_HTP is not a setting: docs/reference/settings.md lists all',
    )
  })

  it.each([
    ['SWITCHOOK_HTTP_PORT', 'SWITCHHOOK_HTTP_PORT'],
    ['SWITCH_HOOK_BIND', 'SWITCHHOOK_BIND'],
    ['switchhook_sip_port', 'SWITCHHOOK_SIP_PORT'],
    ['WSITCHHOOK_DATADIR', 'SWITCHHOOK_DATA_DIR'],
  ])('doubt %s, and name %s', (wrong, right) => {
    expect(() => parseConfig({ [wrong]: '1' })).not.toThrow()
    expect(doubtsAbout({ [wrong]: '1' })).toEqual([`${wrong} is not read: the nearest setting is ${right}`])
  })

  it.each([
    ['SWTICHHOOK_HOLD_TIMEOUT', 'the nearest one is SWITCHHOOK_HOLD_TIMEOUT_SECONDS'],
    ['SWITCHHOK_MEDIA_TIMEOUT', 'the nearest one is SWITCHHOOK_MEDIA_TIMEOUT_SECONDS'],
    ['SWITCHOOK_COLOUR', 'docs/reference/settings.md lists all'],
  ])('doubt %s by its beginning: %s', (wrong, cure) => {
    expect(doubtsAbout({ [wrong]: '1' })).toEqual([
      `${wrong} is not read, names of settings begin with SWITCHHOOK_: ${cure}`,
    ])
  })

  it('doubt a NODE_ENV that no one uses, and nothing that is right or of others', () => {
    expect(doubtsAbout({ NODE_ENV: 'prodution' })).toEqual([
      'NODE_ENV is "prodution": only "production" closes the loopback exception of SWITCHHOOK_WEBHOOK_ALLOW',
    ])
    for (const NODE_ENV of ['production', 'development', 'test', '', undefined])
      expect(doubtsAbout({ NODE_ENV })).toEqual([])
    expect(
      doubtsAbout({
        SWITCHHOOK_HTTP_PORT: '1',
        SHELL: 'sh',
        SSH_AUTH_SOCK: 'a',
        WEBHOOK: 'b',
        SWITCH_HOME: 'c',
        WEBHOOK_URL: 'd',
        SWITCHBOARD_PORT: 'e',
      }),
    ).toEqual([])
  })

  it.each([
    ['SWITCHHOOK_TEST_RESULT', 'result.json'],
    ['SWITCHHOOK_FUZZ_SEED', '1'],
    ['SWITCHHOOK_SERVICE_HOST', '10.0.0.1'],
    ['SWITCHHOOK_SERVICE_PORT_HTTP', '3000'],
    ['SWITCHHOOK_PORT', 'tcp://10.0.0.1:3000'],
    ['SWITCHHOOK_API_PORT_3000_TCP_ADDR', '10.0.0.1'],
    ['OTHER_SWITCHHOOK_HTTPPORT', '1'],
  ])('leave alone %s=%s, which tests or an orchestrator have set', (name, value) => {
    expect(() => parseConfig({ [name]: value })).not.toThrow()
  })

  it.each(['SWITCHHOOK_PORT', 'SWITCHHOOK_WS_PORT'])('refuse %s where it is a number', (name) => {
    expect(() => parseConfig({ [name]: '443' })).toThrow(`${name} is not a setting`)
  })

  it('refuse an RTP range without a pair of ports, and one port for both HTTP and SIP', () => {
    const ranges = [
      ['40001-40002', false],
      ['40001-40003', true],
      ['40000-40001', true],
    ] as const
    for (const [range, isFine] of ranges) {
      const parse = (): unknown => parseConfig({ SWITCHHOOK_RTP_PORTS: range })
      if (isFine) expect(parse).not.toThrow()
      else expect(parse).toThrow('SWITCHHOOK_RTP_PORTS must hold an even port and the one after it')
    }
    const one = { SWITCHHOOK_HTTP_PORT: '5060' }
    expect(() => parseConfig(one)).toThrow('SWITCHHOOK_SIP_PORT must not be SWITCHHOOK_HTTP_PORT')
  })

  it('refuse a port of browsers that is also one of RTP or SIP', () => {
    const within = { SWITCHHOOK_RTP_PORTS: '40000-46000' }
    expect(() => parseConfig(within)).toThrow(
      'SWITCHHOOK_BROWSER_PORT must not be within SWITCHHOOK_RTP_PORTS, and is 45000: set it to another UDP port',
    )
    expect(() => parseConfig({ ...within, SWITCHHOOK_BROWSER_PORT: '0' })).not.toThrow()
    const one = { SWITCHHOOK_BROWSER_PORT: '5060' }
    expect(() => parseConfig(one)).toThrow('SWITCHHOOK_BROWSER_PORT must not be SWITCHHOOK_SIP_PORT')
  })

  it.each([
    [{ SWITCHHOOK_TLS_CERTIFICATE: 'a.pem' }, 'SWITCHHOOK_TLS_CERTIFICATE needs SWITCHHOOK_TLS_KEY'],
    [{ SWITCHHOOK_ACME_DOMAINS: 'a.example' }, 'SWITCHHOOK_ACME_DOMAINS needs SWITCHHOOK_HTTPS_PORT'],
    [{ SWITCHHOOK_ACME_DOMAINS: '*.a.example' }, 'SWITCHHOOK_ACME_DOMAINS must be a comma-separated list'],
    [{ SWITCHHOOK_ACME_DIRECTORY: 'http://a.example' }, 'SWITCHHOOK_ACME_DIRECTORY must be an https URL'],
    [
      { SWITCHHOOK_SHAKEN_KEY: 'a.pem' },
      'SWITCHHOOK_SHAKEN_KEY and SWITCHHOOK_SHAKEN_CERTIFICATE_URL go together',
    ],
    [
      { SWITCHHOOK_SHAKEN_CERTIFICATE_URL: 'http://a.example/a' },
      'SWITCHHOOK_SHAKEN_CERTIFICATE_URL must be an https URL',
    ],
    [
      { SWITCHHOOK_TLS_CERTIFICATE: 'a.pem,b.pem', SWITCHHOOK_TLS_KEY: 'a.key' },
      'SWITCHHOOK_TLS_KEY must name a key for each of the 2 files of SWITCHHOOK_TLS_CERTIFICATE, in their order, and names 1',
    ],
    [{ SWITCHHOOK_TLS_CERTIFICATE: 'a.pem,' }, 'SWITCHHOOK_TLS_CERTIFICATE must be a path, or at most 100'],
    [{ SWITCHHOOK_TLS_KEY: 'a.pem' }, 'SWITCHHOOK_TLS_KEY needs SWITCHHOOK_TLS_CERTIFICATE'],
    [{ SWITCHHOOK_HTTPS_PORT: '3000' }, 'SWITCHHOOK_HTTPS_PORT must not be SWITCHHOOK_HTTP_PORT'],
    [{ SWITCHHOOK_HTTPS_PORT: 'x' }, 'SWITCHHOOK_HTTPS_PORT must be a port number, 0 to 65535, or empty'],
    [{ SWITCHHOOK_WS_ORIGINS: 'app.example' }, 'SWITCHHOOK_WS_ORIGINS must be a comma-separated list'],
    [
      { SWITCHHOOK_WS_ORIGINS: 'https://app.example/x' },
      'SWITCHHOOK_WS_ORIGINS must be a comma-separated list',
    ],
  ])('refuse %o', (environment, words) => {
    expect(() => parseConfig(environment)).toThrow(words)
  })

  it('are described in one or more whole sentences', () => {
    for (const { name, describe: sentence } of describeSettings()) {
      expect(name).toMatch(/^(SWITCHHOOK_[A-Z_]+|NODE_ENV)$/)
      expect(sentence).toMatch(/\.$/)
    }
  })
})
