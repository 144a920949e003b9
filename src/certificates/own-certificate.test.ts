import { X509Certificate } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type PeerCertificate } from 'node:tls'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createCertificates } from './certificates.ts'
import { ensureCertificate, isForDevelopment, keepCertificate, ownCertificateIn } from './own-certificate.ts'

const dayMs = 86_400_000
const names = ['localhost', '127.0.0.1', '2001:db8::7:1', 'voice.example.test']
let folder: string
let file: string
let clock: FakeClock
let lines: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchhook-own-'))
  file = ownCertificateIn(folder)
  clock = createFakeClock(Date.now())
  lines = []
})
afterEach(() => rmSync(folder, { recursive: true }))

const log = Object.assign(Object.create(silentLogger) as typeof silentLogger, {
  warn: (_facts: object, text: string) => void lines.push(text),
})
const ensure = (): Promise<void> => ensureCertificate({ file, names, clock, log })
const current = (): X509Certificate => new X509Certificate(readFileSync(file))

it('is made once, for its owner alone, and has the names that the platform is reached by', async () => {
  await ensure()
  const made = current()
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'certificates')).mode & 0o777).toBe(0o700)
  expect(made.subjectAltName).toBe(
    'DNS:localhost, IP Address:127.0.0.1, IP Address:2001:DB8:0:0:0:0:7:1, DNS:voice.example.test',
  )
  expect(isForDevelopment(made)).toBe(true)
  expect(made.ca).toBe(false)
  expect(made.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect(lines).toEqual([expect.stringContaining('for development')])
  await ensure()
  expect(current().fingerprint256).toBe(made.fingerprint256)
  expect(lines).toHaveLength(1)
})

it('is trusted by clients that were given it', async () => {
  await ensure()
  const pem = readFileSync(file)
  const server = createServer({ key: pem, cert: pem })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca: current().toString(),
    servername: 'voice.example.test',
  })
  await once(socket, 'secureConnect')
  expect((socket.getPeerCertificate() as PeerCertificate).subject.O).toBe('Switchhook development')
  socket.destroy()
  server.close()
})

it('is renewed a month before its end, and made again for other names; that of an authority is left alone', async () => {
  await ensure()
  const first = current().fingerprint256
  clock.advance(366 * dayMs)
  await ensure()
  expect(current().fingerprint256).toBe(first)
  clock.advance(2 * dayMs)
  await ensure()
  const second = current()
  expect(second.fingerprint256).not.toBe(first)
  await ensureCertificate({ file, names: ['other.example.test'], clock, log })
  expect(current().subjectAltName).toBe('DNS:other.example.test')
  const { createKeyPair, keyToPem, selfSignedCertificate } = await import('./x509.ts')
  const keys = createKeyPair()
  const [fromMs, untilMs] = [clock.now(), clock.now() + dayMs]
  const real = selfSignedCertificate({ keys, names, organization: 'An authority', fromMs, untilMs })
  await keepCertificate(file, keyToPem(keys) + real)
  await ensure()
  expect(current().toString()).toBe(new X509Certificate(real).toString())
  expect(existsSync(`${file}.draft`)).toBe(false)
})

it('is read at a start and shown to no far end that asks for one', async () => {
  const certificates = createCertificates({
    pairs: [{ certificateFile: file, keyFile: file }],
    authoritiesFile: undefined,
    ensure,
    clock,
    log,
  })
  await certificates.start()
  expect(certificates.current()).toMatchObject({ isShown: false, key: readFileSync(file, 'utf8') })
  await certificates.stop()
})
