import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createAuthority, type Authority, type Certificate } from '../../test/support/certificates.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { Inbox } from '../../test/support/wait.ts'
import { silentLogger, type Logger } from '../lib/log.ts'
import { pairsOf } from './certificate-choice.ts'
import { createCertificates, type Certificates } from './certificates.ts'

let authority: Authority
let first: Certificate
let second: Certificate
beforeAll(() => {
  authority = createAuthority()
  first = authority.issue({ names: 'DNS:first.example', days: 40 })
  second = authority.issue({ names: 'DNS:second.example', days: 40 })
})
afterAll(() => authority.remove())

let folder: string
let clock: FakeClock
let lines: Inbox<{ readonly level: string; readonly text: string; readonly facts: object }>
let certificates: Certificates
const at = (name: string): string => join(folder, name)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchhook-certificates-'))
  clock = createFakeClock(Date.now())
  lines = new Inbox()
  put(first)
  certificates = createCertificates({
    pairs: [{ certificateFile: at('cert.pem'), keyFile: at('key.pem') }],
    authoritiesFile: undefined,
    clock,
    log: loggerTo(lines),
  })
})
afterEach(async () => {
  await certificates.stop()
  rmSync(folder, { recursive: true })
})

function put({ certificateFile, keyFile }: Pick<Certificate, 'certificateFile' | 'keyFile'>): void {
  copyFileSync(certificateFile, at('cert.pem'))
  copyFileSync(keyFile, at('key.pem'))
}

function loggerTo(inbox: typeof lines): Logger {
  const write =
    (level: string) =>
    (facts: object, text: string): void =>
      inbox.push({ level, text, facts })
  return Object.assign(Object.create(silentLogger) as Logger, {
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  })
}

it('are read at the start, and again when the files hold others', async () => {
  await certificates.start()
  const before = certificates.current()
  expect(before.certificates).toBe(first.certificates)
  put(second)
  clock.advance(10_000)
  await lines.next('the change', ({ text }) => text === 'certificates read again')
  expect(certificates.current()).toMatchObject({ key: second.key, certificates: second.certificates })
})

it('stay as they are while the files do not match, until they do', async () => {
  await certificates.start()
  copyFileSync(second.certificateFile, at('cert.pem'))
  clock.advance(10_000)
  const line = await lines.next('the fault', ({ level }) => level === 'error')
  expect(line.facts).toMatchObject({ reason: expect.stringContaining('is not the key of') })
  expect(certificates.current().certificates).toBe(first.certificates)
  copyFileSync(second.keyFile, at('key.pem'))
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(10_000)
  await lines.next('the change', ({ text }) => text === 'certificates read again')
  expect(certificates.current().certificates).toBe(second.certificates)
})

it('stay as they are while the chain behind the certificate is only half written', async () => {
  await certificates.start()
  put(second)
  writeFileSync(at('cert.pem'), second.certificates + authority.certificate.slice(0, -40))
  clock.advance(10_000)
  const line = await lines.next('the fault', ({ level }) => level === 'error')
  expect(line.facts).toMatchObject({ reason: expect.stringContaining('is refused by TLS') })
  expect(certificates.current().certificates).toBe(first.certificates)
})

it('are read again each by itself: one that cannot be used keeps none of the others back', async () => {
  const [one, two] = ['one', 'two'].map((name) => ({
    certificateFile: at(`${name}.pem`),
    keyFile: at(`${name}.key`),
  }))
  if (one === undefined || two === undefined) return expect.fail()
  const into = (files: typeof one, { certificateFile, keyFile }: Certificate): void => {
    copyFileSync(certificateFile, files.certificateFile)
    copyFileSync(keyFile, files.keyFile)
  }
  into(one, first)
  into(two, first)
  const both = createCertificates({
    pairs: [one, two],
    authoritiesFile: undefined,
    clock,
    log: loggerTo(lines),
  })
  await both.start()
  writeFileSync(one.keyFile, 'half of a key')
  into(two, second)
  clock.advance(10_000)
  await lines.next('the fault', ({ text }) => text === 'certificates not replaced')
  await lines.next('the change', ({ text }) => text === 'certificates read again')
  expect(pairsOf(both.current()).map(({ certificates: pem }) => pem)).toEqual([
    first.certificates,
    second.certificates,
  ])
  await both.stop()
})

it('are logged once a day when they expire soon, and when they have expired', async () => {
  clock.advance(30 * 86_400_000)
  await certificates.start()
  expect(lines.items).toMatchObject([
    { level: 'warn', text: 'the certificate expires soon', facts: { names: 'DNS:first.example', days: 9 } },
  ])
  await certificates.stop()
  put(authority.issue({ names: 'DNS:old.example', days: -1 }))
  await certificates.start()
  clock.advance(86_400_000)
  await lines.next('the error', ({ text }) => text === 'the certificate has expired')
})

it.each([
  ['no such file', () => rmSync(at('key.pem')), 'name a file of PEM in SWITCHHOOK_TLS_KEY'],
  ['no certificate', () => writeFileSync(at('cert.pem'), 'hello'), 'holds no certificate in PEM'],
  ['no key', () => writeFileSync(at('key.pem'), 'hello'), 'holds no private key without a password in PEM'],
  ['another key', () => copyFileSync(second.keyFile, at('key.pem')), 'is not the key of'],
])('keep the platform from starting with %s', async (_name, spoil, words) => {
  spoil()
  await expect(certificates.start()).rejects.toThrow(words)
})
