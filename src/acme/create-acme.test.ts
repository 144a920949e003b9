import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority, type Authority } from '../../test/support/certificates.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { startNameServer } from '../../test/support/name-server.ts'
import { requestsBelieving, startPebble } from '../../test/support/pebble.ts'
import { isMissing } from '../../test/support/tools.ts'
import { until } from '../../test/support/wait.ts'
import { ensureCertificate } from '../certificates/own-certificate.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import type { Acme, AcmeState, AcmeStore } from './acme.ts'
import type { AcmeOrder } from './client.ts'
import { createAcme, type AcmeOptions } from './create-acme.ts'

const names = ['voice.example.test', 'sip.example.test']
const hourMs = 3_600_000
let authority: Authority
let folder: string
let file: string
let clock: FakeClock
let alerts: string[]
const opened: Acme[] = []

beforeAll(() => {
  authority = createAuthority()
})
afterAll(() => authority.remove())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchhook-acme-'))
  file = join(folder, 'own.pem')
  clock = createFakeClock(Date.now())
  alerts = []
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((acme) => acme.stop()))
  rmSync(folder, { recursive: true })
})

/** The state that all nodes share. */
class SharedState {
  state: AcmeState = {}
  holder: string | undefined
  storeOf(node: string): AcmeStore {
    return {
      load: async () => this.state,
      save: async (changes) => void (this.state = { ...this.state, ...changes }),
      hold: async () => (this.holder ??= node) === node,
      release: async () => void (this.holder = undefined),
    }
  }
}

function open(more: Partial<AcmeOptions> & Pick<AcmeOptions, 'store'>): Acme {
  const outgoing = { request: () => Promise.reject(new Error('nothing is to be requested')) }
  const alert = (message: string): void => void alerts.push(message)
  const acme = createAcme({
    directory: 'https://ca.test/dir',
    names,
    file,
    outgoing,
    alert,
    clock,
    log,
    ...more,
  })
  opened.push(acme)
  return acme
}

const issued = (days: number): string => {
  const { key, certificates } = authority.issue({ names: names.map((name) => `DNS:${name}`).join(','), days })
  return key + certificates
}
const serial = (): string => new X509Certificate(readFileSync(file)).serialNumber

/** Resolves once a check at that time is over and the next one is scheduled. */
async function looksAfter(ms: number): Promise<void> {
  clock.advance(ms)
  await until('the end of a look', () => clock.pending > 0)
}

describe.skipIf(isMissing('pebble'))('an ACME server', () => {
  it('proves both names by HTTP, and gives a certificate for them and the account it knows already', async () => {
    const shared = new SharedState()
    const asked: string[] = []
    const web = createServer((request, response) => {
      asked.push(`${request.headers.host} ${request.url?.split('/').slice(0, 3).join('/')}`)
      const token = request.url?.split('/')[3] ?? ''
      // The authority asks another node than the one that orders.
      void second
        .answerTo(token)
        .then((answer) => response.writeHead(answer === undefined ? 404 : 200).end(answer))
    })
    await once(web.listen(0, '127.0.0.1'), 'listening')
    const nameServer = await startNameServer()
    for (const name of names) nameServer.addresses(name, ['127.0.0.1'])
    const { port: httpPort } = web.address() as AddressInfo
    const certificate = authority.issue({ names: 'IP:127.0.0.1' })
    const pebble = await startPebble({ certificate, nameServer: nameServer.at, httpPort })
    const common = { directory: pebble.directory, outgoing: requestsBelieving(authority.certificate) }
    const first = open({ ...common, store: shared.storeOf('first'), clock: systemClock })
    const second = open({ ...common, store: shared.storeOf('second') })
    try {
      await first.start()
      await until('the certificate', async () => shared.state.certificate)
      await until(
        'its file',
        () => existsSync(file) && readFileSync(file, 'utf8') === shared.state.certificate,
      )
      expect(new X509Certificate(readFileSync(file)).subjectAltName).toBe(
        'DNS:voice.example.test, DNS:sip.example.test',
      )
      // The authority requests each file from several places.
      const paths = names.map((name) => `${name}:${httpPort} /.well-known/acme-challenge`)
      expect(new Set(asked)).toEqual(new Set(paths))
      const { accountKey, certificate: before } = shared.state
      shared.state = { accountKey: accountKey ?? '' }
      rmSync(file)
      const third = open({ ...common, store: shared.storeOf('third'), clock: systemClock })
      await third.start()
      await until('another certificate', async () => shared.state.certificate !== undefined)
      expect(shared.state.certificate).not.toBe(before)
      expect(alerts).toEqual([])
    } finally {
      await first.stop()
      await pebble.stop()
      await nameServer.close()
      web.close()
    }
  })
})

describe('the certificate of a domain', () => {
  it('takes the place of the one for development, and is renewed after two thirds of its time', async () => {
    const shared = new SharedState()
    await ensureCertificate({ file, names, clock, log })
    const orders: AcmeOrder[] = []
    const order = async (asked: AcmeOrder): Promise<string> => {
      orders.push(asked)
      return issued(orders.length === 1 ? 3 : 30)
    }
    await open({ store: shared.storeOf('only'), order }).start()
    await looksAfter(0)
    expect(orders).toHaveLength(1)
    const before = serial()
    await looksAfter(46 * hourMs)
    expect(orders).toHaveLength(1)
    await looksAfter(3 * hourMs)
    expect(orders).toHaveLength(2)
    expect(serial()).not.toBe(before)
    expect(orders[1]?.accountKey).toBe(orders[0]?.accountKey)
  })

  it('stays in force where no new one is given; each try comes later than the one before, and raises an alert', async () => {
    const shared = new SharedState()
    let tries = 0
    const order = async (): Promise<string> => {
      tries += 1
      throw new Error('it refused with 429: too many')
    }
    const acme = open({ store: shared.storeOf('only'), order })
    await acme.start()
    const after = async (ms: number): Promise<number> => {
      await looksAfter(ms)
      return tries
    }
    expect(await after(0)).toBe(1)
    expect(await after(14 * 60_000)).toBe(1)
    expect(await after(60_000)).toBe(2)
    expect(await after(29 * 60_000)).toBe(2)
    // A restart must not lead to an earlier try.
    await acme.stop()
    await open({ store: shared.storeOf('only'), order }).start()
    expect(await after(0)).toBe(2)
    expect(await after(60_000)).toBe(3)
    expect(alerts[0]).toMatch(
      /^no certificate for voice.example.test, sip.example.test .*: it refused with 429: too many\. The next try/,
    )
    expect(alerts).toHaveLength(3)
  })

  it('may be ordered by another node when the database has failed during an order', async () => {
    const shared = new SharedState()
    const store: AcmeStore = {
      ...shared.storeOf('only'),
      save: () => Promise.reject(new Error('the database is gone')),
    }
    await open({ store, order: () => Promise.resolve(issued(3)) }).start()
    await looksAfter(0)
    expect(shared.holder).toBeUndefined()
  })

  it('is ordered by one node, and taken over by the others', async () => {
    const shared = new SharedState()
    shared.holder = 'other'
    const order = (): Promise<string> => Promise.reject(new Error('ordered twice'))
    await open({ store: shared.storeOf('this'), order }).start()
    await looksAfter(0)
    shared.state = { certificate: issued(3), challenge: { token: 't'.repeat(20), keyAuthorization: 'proof' } }
    await looksAfter(60_000)
    expect(readFileSync(file, 'utf8')).toBe(shared.state.certificate)
    expect(await opened[0]?.answerTo('t'.repeat(20))).toBe('proof')
    expect(await opened[0]?.answerTo('another')).toBeUndefined()
    expect(alerts).toEqual([])
  })
})
