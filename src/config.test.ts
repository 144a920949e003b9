import { describe, expect, it } from 'vitest'
import { ConfigError, describeSettings, parseConfig } from './config.ts'

describe('the settings', () => {
  it('have a default each, so that an empty environment starts the platform', () => {
    expect(parseConfig({})).toMatchObject({ httpPort: 3000, sipPort: 5060, sipDigest: ['MD5'] })
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

  it('are described in one or more whole sentences', () => {
    for (const { name, describe: sentence } of describeSettings()) {
      expect(name).toMatch(/^(SWITCHHOOK_[A-Z_]+|NODE_ENV)$/)
      expect(sentence).toMatch(/\.$/)
    }
  })
})
