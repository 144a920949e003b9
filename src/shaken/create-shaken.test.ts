import { createPrivateKey } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority, type Authority, type Certificate } from '../../test/support/certificates.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { AppError } from '../lib/errors.ts'
import { silentLogger } from '../lib/log.ts'
import type { OutgoingRequest } from '../outgoing/outgoing.ts'
import { createShaken } from './create-shaken.ts'
import { writePassport, type NewPassport } from './passport.ts'
import type { Shaken, ShakenOptions } from './shaken.ts'

const url = 'https://sti.example/own.pem'
const names = 'DNS:sti.example'
const origid = '123e4567-e89b-12d3-a456-426614174000'
const numbers = { calling: '+1 (555) 123-0001', called: ['+15551230002'] }

/** Returns the certificate with another number at the end of the name of its curve, P-256. */
function onUnknownCurve(pem: string): string {
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64').toString('hex')
  const other = Buffer.from(der.replace('2a8648ce3d030107', '2a8648ce3d030177'), 'hex')
  return `-----BEGIN CERTIFICATE-----\n${other.toString('base64')}\n-----END CERTIFICATE-----\n`
}

describe('a calling number', () => {
  let authority: Authority
  let own: Certificate
  let middle: Certificate
  const served = new Map<string, string>()
  const asked: OutgoingRequest[] = []
  /** The servers that respond later. */
  const held = new Map<string, PromiseWithResolvers<undefined>>()
  let status = 200
  let clock: FakeClock
  let shaken: Shaken

  const open = async (more: Partial<ShakenOptions> = {}): Promise<Shaken> => {
    const made = createShaken({
      authoritiesFile: authority.certificateFile,
      keyFile: own.keyFile,
      certificateUrl: url,
      outgoing: {
        request: async (request) => {
          asked.push(request)
          await held.get(request.url)?.promise
          const body = served.get(request.url)
          if (body === undefined) throw new AppError('hook_unreachable', 'the server cannot be reached')
          return { status, headers: {}, body: Buffer.from(body) }
        },
      },
      clock,
      log: silentLogger,
      ...more,
    })
    await made.start()
    return made
  }

  beforeAll(() => {
    authority = createAuthority()
    own = authority.issue({ names, isForNumbers: true })
    middle = authority.issue({ names: 'DNS:middle.example', isAuthority: true })
    const issued = authority.issue({ names, isForNumbers: true, by: middle })
    const at = (name: string, text: string): void => void served.set(`https://sti.example/${name}.pem`, text)
    at('own', own.certificates)
    at('chain', issued.certificates + middle.certificates)
    at('without-middle', issued.certificates)
    at('plain', authority.issue({ names }).certificates)
    at('expired', authority.issue({ names, isForNumbers: true, days: -1 }).certificates)
    at('self-signed', authority.issue({ names, isForNumbers: true, isSelfSigned: true }).certificates)
    at('rsa', authority.issue({ names, isForNumbers: true, isRsa: true }).certificates)
    at('text', 'no certificate')
    at('broken', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')
    at('foreign', onUnknownCurve(own.certificates))
    at('many', own.certificates.repeat(6))
    keys.set('chain', issued.key)
  })
  afterAll(() => authority.remove())

  const keys = new Map<string, string>()

  beforeEach(async () => {
    status = 200
    asked.length = 0
    clock = createFakeClock(Date.now())
    shaken = await open()
  })

  const at = () => Math.floor(clock.now() / 1000)
  const passport = (): NewPassport => ({
    attest: 'A',
    origid,
    iat: at(),
    orig: '15551230001',
    dest: '15551230002',
  })
  const headerOf = (more: Partial<NewPassport> = {}, name = 'own'): string =>
    writePassport(
      { ...passport(), ...more },
      { key: createPrivateKey(keys.get(name) ?? own.key), certificateUrl: `https://sti.example/${name}.pem` },
    )
  const verify = (identity: string, more: Partial<typeof numbers> = {}) =>
    shaken.verify({ identities: [identity], ...numbers, ...more })

  it.each(['account_share', 'overloaded'] as const)(
    'is proven although a call before it, of an account that may send no more requests, was not: %s',
    async (code) => {
      let isFull = true
      const outgoing: ShakenOptions['outgoing'] = {
        async request() {
          if (isFull) throw new AppError(code, 'too many outgoing requests are running')
          return { status: 200, headers: {}, body: Buffer.from(own.certificates) }
        },
      }
      shaken = await open({ outgoing })
      expect(await verify(headerOf())).toMatchObject({ code: 'certificate_unavailable' })
      isFull = false
      expect(await verify(headerOf())).toMatchObject({ verstat: 'TN-Validation-Passed' })
    },
  )

  it('is proven by one that leads to the trust list, whose certificate is fetched once an hour', async () => {
    const proven = { verstat: 'TN-Validation-Passed', attest: 'A', origid }
    expect(await verify(headerOf())).toEqual(proven)
    expect(await verify(headerOf({ attest: 'C' }))).toEqual({ ...proven, attest: 'C' })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ url, method: 'GET', maxBodyBytes: 16_384, totalTimeoutMs: 3_000 })
    clock.advance(3_600_001)
    expect(await verify(headerOf())).toEqual(proven)
    expect(asked).toHaveLength(2)
    expect(await verify(headerOf({}, 'chain'))).toEqual(proven)
  })

  it('is proven by a certificate whose URL has a semicolon, in the parameter info too', async () => {
    const certificateUrl = 'https://sti.example/own.pem;v=2'
    served.set(certificateUrl, own.certificates)
    const signed = writePassport(passport(), { key: createPrivateKey(own.key), certificateUrl })
    expect(await verify(signed)).toMatchObject({ verstat: 'TN-Validation-Passed' })
    for (const other of ['v=3>;', 'v=2;'])
      expect(await verify(signed.replace('v=2>;', other))).toMatchObject({ code: 'identity_malformed' })
  })

  it('is proven by what the platform signs, under an origin that hides the account', async () => {
    const statement = {
      calling: '+15551230001',
      called: '15551230002',
      account_sid: 'a',
      attest: 'B',
    } as const
    const signed = shaken.sign(statement)!
    expect(signed.date).toBe(new Date(at() * 1000).toUTCString())
    expect(signed.identity).toMatch(
      /^[\w-]+\.[\w-]+\.[\w-]+;info=<https:\/\/sti\.example\/own\.pem>;alg=ES256;ppt="shaken"$/,
    )
    const [head = '', claims = ''] = signed.identity.split('.')
    const text = (part: string) => Buffer.from(part, 'base64url').toString()
    expect(text(head)).toBe(`{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"${url}"}`)
    const origin = /"origid":"([^"]+)"/.exec(text(claims))?.[1]
    expect(text(claims)).toBe(
      `{"attest":"B","dest":{"tn":["15551230002"]},"iat":${at()},"orig":{"tn":"15551230001"},"origid":"${origin}"}`,
    )
    expect(origin).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(await verify(signed.identity)).toMatchObject({ attest: 'B', origid: origin })
    const again = shaken.sign({ ...statement, account_sid: 'b' })!
    expect(again.identity).not.toContain(origin)
    for (const calling of ['anonymous', 'alice', '12', '1'.repeat(16)])
      expect(shaken.sign({ ...statement, calling })).toBeUndefined()
  })

  it.each<[string, () => string, string, string]>([
    [
      'signed for another caller',
      () => headerOf({ orig: '15551239999' }),
      'identity_of_other_numbers',
      'calling',
    ],
    [
      'signed for another called number',
      () => headerOf({ dest: '15551239999' }),
      'identity_of_other_numbers',
      'called',
    ],
    ['61 seconds old', () => headerOf({ iat: at() - 61 }), 'identity_stale', 'seconds ago'],
    ['61 seconds ahead', () => headerOf({ iat: at() + 61 }), 'identity_stale', 'signed -6'],
    [
      'in the compact form',
      () => headerOf().replace(/^[^.]+\.[^.]+/, '.'),
      'identity_malformed',
      'full form',
    ],
    ['without a signature', () => headerOf().replace(/\.[\w-]+;/, '.;'), 'identity_malformed', 'full form'],
    ['no base64url', () => headerOf().replace('.', '.%'), 'identity_malformed', 'base64url'],
    ['no JSON', () => `AAAA.${headerOf().split('.').slice(1).join('.')}`, 'identity_malformed', 'JSON'],
    ['too long', () => `${headerOf()};x=${'y'.repeat(9_000)}`, 'identity_malformed', 'too long'],
    [
      'about another certificate',
      () => headerOf().replace('info=<https://sti', 'info=<https://x'),
      'identity_malformed',
      'different',
    ],
    [
      'of another kind',
      () => headerOf().replace('"shaken"', '"div"'),
      'identity_unsupported',
      'another kind',
    ],
    [
      'changed',
      () => headerOf().replace(/\.([\w-]{4})[\w-]+;/, `.$1${'A'.repeat(82)};`),
      'signature_wrong',
      'wrong',
    ],
    ['of attestation D', () => headerOf({ attest: 'D' as never }), 'identity_malformed', 'attest'],
    ['without an origin', () => headerOf({ origid: '' }), 'identity_malformed', 'origid'],
    ['of no time', () => headerOf({ iat: 1.5 }), 'identity_malformed', 'iat'],
    ['without a caller', () => headerOf({ orig: 7 as never }), 'identity_malformed', 'orig'],
    ['without a called number', () => headerOf({ dest: null as never }), 'identity_malformed', 'dest'],
    ['signed by another', () => headerOf({}, 'without-middle'), 'certificate_not_trusted', 'trust list'],
    ['signed by itself', () => headerOf({}, 'self-signed'), 'certificate_not_trusted', 'trust list'],
    ['signed by one for web pages', () => headerOf({}, 'plain'), 'certificate_not_trusted', 'RFC 8226'],
    ['signed by one that has expired', () => headerOf({}, 'expired'), 'certificate_not_trusted', 'expired'],
    ['signed by one of RSA', () => headerOf({}, 'rsa'), 'certificate_not_trusted', 'P-256'],
    ['signed by one of an unknown curve', () => headerOf({}, 'foreign'), 'certificate_not_trusted', 'P-256'],
    ['signed by a text', () => headerOf({}, 'text'), 'certificate_unavailable', 'PEM'],
    [
      'signed by nothing that can be read',
      () => headerOf({}, 'broken'),
      'certificate_unavailable',
      'not a certificate',
    ],
    ['signed by too many', () => headerOf({}, 'many'), 'certificate_unavailable', 'PEM'],
    [
      'signed by one that is gone',
      () => headerOf({}, 'gone'),
      'certificate_unavailable',
      'cannot be reached',
    ],
  ])('is not proven by one %s', async (_what, identity, code, reason) => {
    const finding = await verify(identity())
    const isOpen = code === 'identity_unsupported' || code === 'certificate_unavailable'
    expect(finding).toMatchObject({ verstat: isOpen ? 'No-TN-Validation' : 'TN-Validation-Failed', code })
    expect(finding.reason).toContain(reason)
    expect(finding).not.toHaveProperty('attest')
  })

  it('causes a fetch only for a certificate that a fresh PASSporT with its two numbers names', async () => {
    await verify(headerOf({ iat: 0 }, 'x'))
    await verify(headerOf({ orig: '1555' }, 'y'))
    await verify(headerOf({}, 'z').replaceAll('https:', 'http:'))
    expect(asked).toEqual([])
  })

  it('causes another request to a failed server after half a minute, and not before', async () => {
    status = 503
    const finding = await verify(headerOf())
    expect(finding).toMatchObject({ code: 'certificate_unavailable', reason: expect.stringContaining('503') })
    status = 200
    clock.advance(29_000)
    expect(await verify(headerOf())).toMatchObject({ code: 'certificate_unavailable' })
    expect(asked).toHaveLength(1)
    clock.advance(1_001)
    expect(await verify(headerOf())).toMatchObject({ verstat: 'TN-Validation-Passed' })
  })

  it('is proven by any of four headers, and otherwise the first of its kind says why', async () => {
    const div = headerOf().replace('"shaken"', '"div"')
    const stale = headerOf({ iat: 5 })
    const of = (...identities: readonly string[]) => shaken.verify({ identities, ...numbers })
    expect(await of(div, stale, headerOf())).toMatchObject({ attest: 'A' })
    expect(await of(div, stale)).toMatchObject({ code: 'identity_stale' })
    expect(await of(div, div, div, div, headerOf())).toMatchObject({ code: 'identity_unsupported' })
    expect(await of()).toMatchObject({ code: 'identity_malformed' })
    // The server of the second header gets a request while the first server does not respond.
    held.set('https://sti.example/text.pem', Promise.withResolvers<undefined>())
    const finding = of(headerOf({}, 'text'), headerOf({}, 'chain'))
    await expect.poll(() => asked.at(-1)?.url).toBe('https://sti.example/chain.pem')
    held.get('https://sti.example/text.pem')?.resolve(undefined)
    expect(await finding).toMatchObject({ attest: 'A' })
  })

  it('is not decided without a trust list, and not signed without a key', async () => {
    const bare = await open({ authoritiesFile: undefined, keyFile: undefined })
    const finding = await bare.verify({ identities: [headerOf()], ...numbers })
    expect(finding).toMatchObject({ verstat: 'No-TN-Validation', code: 'no_trust_list' })
    expect(asked).toEqual([])
    const statement = {
      calling: '15551230001',
      called: '15551230002',
      account_sid: 'a',
      attest: 'A',
    } as const
    expect(bare.sign(statement)).toBeUndefined()
  })

  it('is verified with a changed trust list, and a list that cannot be used is ignored', async () => {
    const file = `${authority.folder}/list.pem`
    await writeFile(file, middle.certificates)
    const changing = await open({ authoritiesFile: file })
    const found = async () => (await changing.verify({ identities: [headerOf()], ...numbers })).verstat
    expect(await found()).toBe('TN-Validation-Failed')
    const looked = async (text: string, wanted: string): Promise<void> => {
      await writeFile(file, text)
      clock.advance(10_000)
      await expect.poll(found).toBe(wanted)
    }
    await looked(`${middle.certificates}${authority.certificate}`, 'TN-Validation-Passed')
    await looked('nothing of use', 'TN-Validation-Passed')
    await changing.stop()
    await rm(file)
  })

  it.each<[string, () => Partial<ShakenOptions>, string]>([
    [
      'a list that is missing',
      () => ({ authoritiesFile: '/nowhere/list.pem' }),
      'correct SWITCHHOOK_SHAKEN_AUTHORITIES',
    ],
    ['a list without certificates', () => ({ authoritiesFile: own.keyFile }), 'no certificate in PEM'],
    ['a key that is none', () => ({ keyFile: own.certificateFile }), 'no private key'],
  ])('has a start stopped by %s', async (_what, more, reason) => {
    await expect(open(more())).rejects.toThrow(reason)
  })
})
