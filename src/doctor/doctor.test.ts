import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuthority, type Authority, type CertificateWish } from '../../test/support/certificates.ts'
import { startNameServer } from '../../test/support/name-server.ts'
import { createMigratedDatabase } from '../../test/support/postgres-databases.ts'
import { freePorts } from '../../test/support/ports.ts'
import { isMissing } from '../../test/support/tools.ts'
import { createNames } from '../network/create-names.ts'
import { lookAtStorage } from '../storage/look.ts'
import { createStorage } from '../storage/create-storage.ts'
import { warningOn } from '../data-directory.ts'
import { createUpdateClient } from '../dns/create-update-client.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { openSockets, PortPool } from '../media/transport/ports.ts'
import { createAcmeDomainsCheck } from './acme-domains.ts'
import { createAccountNames } from './certificate-names.ts'
import { createCertificatesCheck } from './certificates.ts'
import { createClockCheck, notingDates, type ClockSample } from './clock.ts'
import { createBucketsCheck } from './credentials.ts'
import { createDatabaseCheck } from './database.ts'
import { createDiskCheck } from './disk.ts'
import { examine, ok, type Check, type Finding } from './doctor.ts'
import { createConfinementCheck } from './confinement.ts'
import { createFileLimitsCheck } from './file-limits.ts'
import { createPasswordsCheck } from './passwords.ts'
import { createPortsCheck } from './ports.ts'
import { createPublicAddressCheck } from './public-address.ts'
import { AppError } from '../lib/errors.ts'
import { createRealmsCheck } from './realms.ts'
import { reportOf } from './report.ts'
import { findPlatform, type RunningPlatform } from './running-platform.ts'
import { createSoundCheck } from './sound.ts'

const dayMs = 86_400_000
let folder: string
let authority: Authority
/** A server that takes a port without identifying itself. */
let foreign: Server
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchhook-doctor-test-'))
  authority = createAuthority()
  foreign = createServer((socket) => socket.on('error', () => undefined).end('220 mail.example.test\r\n'))
  await once(foreign.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  foreign.close()
  authority.remove()
  rmSync(folder, { recursive: true, force: true })
})

const absent: RunningPlatform = { health: 'none', pid: undefined }

async function statesOf(check: Check): Promise<readonly string[]> {
  const [result] = await examine([check], { clock, limitMs: 10_000 })
  return (result?.findings ?? []).map(({ state, what }) => `${state} ${what}`)
}

const cureOf = async (check: Check): Promise<string | undefined> =>
  (await check.look()).find(({ state }) => state === 'bad')?.cure

describe('ports', () => {
  it('says which port another program has, and which setting names it', async () => {
    const { port } = foreign.address() as AddressInfo
    const platform = await findPlatform({ bind: '127.0.0.1', httpPort: port, dataDir: folder })
    expect(platform).toEqual({ health: 'foreign', pid: undefined })
    const check = createPortsCheck({
      bind: '127.0.0.1',
      httpPort: port,
      sipPort: 0,
      sipsPort: undefined,
      wssPort: undefined,
      httpsPort: undefined,
      browserPort: 0,
      rtpPorts: { first: port - (port % 2), last: port - (port % 2) + 1 },
      mediaWorkers: 1,
      platform: async () => platform,
    })
    expect(await statesOf(check)).toEqual([
      `bad REST API: TCP port ${port} of 127.0.0.1 is in use by another program`,
      'note SIP: any free UDP port, another one at each start',
      'note SIP: any free TCP port, another one at each start',
      'note browsers: any free UDP port, another one at each start',
      expect.stringContaining('ok RTP: there are free UDP ports'),
    ])
    expect(await cureOf(check)).toBe('Stop that program, or set SWITCHHOOK_HTTP_PORT to a free port.')
  })

  it('says that another program has the port of browsers', async () => {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const { port } = socket.address()
    const check = createPortsCheck({
      bind: '127.0.0.1',
      httpPort: 0,
      sipPort: 0,
      sipsPort: undefined,
      wssPort: undefined,
      httpsPort: undefined,
      browserPort: port,
      rtpPorts: { first: 1024, last: 65_535 },
      mediaWorkers: 1,
      platform: async () => absent,
    })
    expect(await statesOf(check)).toContain(
      `bad browsers: UDP port ${port} of 127.0.0.1 is in use by another program`,
    )
    await new Promise<void>((resolve) => socket.close(() => resolve()))
    expect(await statesOf(check)).toContain(`ok browsers: UDP port ${port} of 127.0.0.1 is free`)
  })
})

describe('the domains of ACME', () => {
  it('says of each whether it leads here, by port 80 too, and how long its certificate is valid', async () => {
    const answers: Record<string, string> = { 'other.example.test': '<h1>It works</h1>' }
    const server = createHttpServer((request, response) => {
      response.end(
        answers[request.headers.host ?? ''] ?? '{"msg":"no such challenge","code":"no_such_route"}',
      )
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const nameServer = await startNameServer()
    const names = createNames({ servers: [nameServer.at], clock })
    const { certificateFile } = authority.issue({
      names: 'DNS:good.example.test,DNS:late.example.test',
      days: 60,
    })
    const good = ['good.example.test', 'fresh.example.test', 'other.example.test']
    for (const domain of good) nameServer.addresses(domain, ['127.0.0.1'])
    nameServer.addresses('far.example.test', ['192.0.2.77'])
    const options = {
      domains: [...good, 'far.example.test', 'absent.example.test'],
      ...{ names, address: '127.0.0.1', isOwnAddress: true, port, clock },
      platform: async (): Promise<RunningPlatform> => ({ health: 'ok', pid: 1 }),
      certificate: () => readFile(certificateFile, 'utf8'),
    }
    const here = 'leads here, and so does its port 80'
    expect(await statesOf(createAcmeDomainsCheck(options))).toEqual([
      expect.stringMatching(`^ok good.example.test ${here}. Its certificate is valid for (59|60) days`),
      `note fresh.example.test ${here}. There is no certificate for it yet: one is ordered within minutes`,
      'bad Port 80 of other.example.test leads to another server: the authority finds no proof there',
      'bad far.example.test leads to 192.0.2.77, and the platform is reached at 127.0.0.1',
      'bad absent.example.test is not known to DNS',
    ])
    const one = { ...options, domains: ['good.example.test'] }
    const later = { ...clock, now: () => clock.now() + 50 * dayMs }
    expect(await statesOf(createAcmeDomainsCheck({ ...one, clock: later }))).toEqual([
      expect.stringContaining(
        'bad good.example.test leads here, and so does its port 80. Its certificate was not renewed',
      ),
    ])
    server.close()
    await once(server, 'close')
    const closed = createAcmeDomainsCheck(one)
    expect(await statesOf(closed)).toEqual([
      expect.stringMatching(/^bad Port 80 of good.example.test cannot be reached from here/),
    ])
    expect(await cureOf(closed)).toContain('lead to SWITCHHOOK_HTTP_PORT')
    expect(await statesOf(createAcmeDomainsCheck({ ...one, isOwnAddress: false }))).toEqual([
      expect.stringMatching(/^note Port 80 of good.example.test cannot be reached .* behind NAT$/),
    ])
    expect(await statesOf(createAcmeDomainsCheck({ ...one, platform: async () => absent }))).toEqual([
      'note good.example.test leads here. Its port 80 is not checked: the platform does not run',
    ])
    names.close()
    await nameServer.close()
  })
})

describe.skipIf(isMissing('postgres'))('PostgreSQL', () => {
  it('is a line too: whether it can be read, with which key, and where it is', async () => {
    const database = await createMigratedDatabase()
    const settings = { dataDir: folder, databaseUrl: database.url, secretKey: '5e'.repeat(32), clock, log }
    const storage = createStorage(settings)
    await storage.start()
    await storage.stop()
    const check = (changes: Partial<typeof settings> = {}): Check =>
      createDatabaseCheck(async () => {
        const look = await lookAtStorage({ ...settings, ...changes })
        await look?.close()
        return look
      }, 'PostgreSQL')
    expect(await statesOf(check())).toEqual(['ok PostgreSQL: it can be read, and the key opens its secrets'])
    expect(await statesOf(check({ secretKey: '00'.repeat(32) }))).toEqual([
      expect.stringContaining('bad The key does not open the secrets of this database'),
    ])
    const nowhere = check({ databaseUrl: 'postgres://127.0.0.1:9/none' })
    expect(await statesOf(nowhere)).toEqual([expect.stringContaining('bad PostgreSQL does not answer')])
    expect(await cureOf(nowhere).catch((error: unknown) => String(error))).toContain(
      'SWITCHHOOK_DATABASE_URL',
    )
    await database.query('drop schema public cascade')
    await database.query('create schema public')
    expect(await statesOf(check())).toEqual([
      'note PostgreSQL: no platform was started with these settings yet',
    ])
    await database.remove()
  })
})

describe('certificates', () => {
  const lookAt = (wish: CertificateWish, tlsName?: string, at = clock): Check => {
    const { certificateFile, keyFile } = authority.issue(wish)
    const files = { pairs: [{ certificateFile, keyFile }], authoritiesFile: undefined }
    return createCertificatesCheck({
      files,
      tlsName,
      clock: at,
    })
  }

  it('judges how long, for which name and by whom', async () => {
    const names = 'DNS:voice.example.test'
    expect(await statesOf(lookAt({ names, days: 90 }, 'voice.example.test'))).toEqual([
      expect.stringMatching(/^ok The certificate of DNS:voice.example.test is valid for (89|90) days/),
      'note It does not lead to an authority that is commonly known',
      'ok It is for voice.example.test, as SWITCHHOOK_TLS_NAME says',
    ])
    const later = { ...clock, now: () => clock.now() + 85 * dayMs }
    expect(
      await statesOf(lookAt({ names, days: 90, isSelfSigned: true }, 'other.example.test', later)),
    ).toEqual([
      expect.stringMatching(/^bad The certificate of DNS:voice.example.test expires in [45] days/),
      expect.stringContaining('note It is signed by itself'),
      'bad The certificate is not for other.example.test, the name of SWITCHHOOK_TLS_NAME',
    ])
    const expired = lookAt({ names, days: -1 })
    expect(await statesOf(expired)).toContainEqual(expect.stringMatching(/^bad .* expired on 20/))
    expect(await cureOf(expired)).toContain('Renew it')
  })

  it('compares each with the one that the ports show to who asks for it', async () => {
    const [own, other, hidden] = ['DNS:own.test', 'DNS:*.other.test', 'DNS:own.test'].map((names) =>
      authority.issue({ names }),
    )
    const servers = [own, other].map((one) => createTlsServer({ key: one?.key, cert: one?.certificates }))
    for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const [sipsPort, httpsPort] = servers.map((server) => (server.address() as AddressInfo).port)
      const wssPort = (foreign.address() as AddressInfo).port
      const pairs = [own, other, hidden].filter((one) => one !== undefined)
      const files = { pairs, authoritiesFile: undefined }
      const running = async (): Promise<RunningPlatform> => ({ health: 'ok', pid: undefined })
      const ports = { bind: '0.0.0.0', sipsPort, httpsPort, wssPort, platform: running }
      const check = createCertificatesCheck({ files, tlsName: undefined, clock, ports })
      expect(await statesOf(check)).toEqual(
        expect.arrayContaining([
          `ok SIP over TLS at port ${sipsPort} shows the certificate of the file`,
          expect.stringMatching(
            /^bad HTTPS at port \d+ shows another certificate .*: DNS:\*.other.test, until/,
          ),
          `ok HTTPS at port ${httpsPort} shows the certificate of the file to clients that request switchhook-doctor.other.test`,
          expect.stringMatching(
            /^bad SIP over TLS at port \d+ shows another certificate than that of the file to clients that request switchhook-doctor.other.test/,
          ),
          expect.stringMatching(/^note The certificate of DNS:own.test is never shown/),
          expect.stringMatching(/^bad WSS at port \d+ ends the handshake: /),
        ]),
      )
    } finally {
      for (const server of servers) server.close()
    }
  })

  it('looks for the names of realms and of Microsoft Teams tenants in all of them', async () => {
    const pairs = ['DNS:a.test', 'DNS:*.b.test'].map((names) => authority.issue({ names }))
    const rowsWith = (realms: readonly string[], fqdns: readonly string[]) => async () =>
      ({
        for: () => ({
          accounts: { list: async () => realms.map((sip_realm) => ({ sip_realm })) },
          ms_teams_tenants: { list: async () => fqdns.map((tenant_fqdn) => ({ tenant_fqdn })) },
        }),
      }) as never
    const checkOf = (realms: readonly string[], fqdns: readonly string[]): Check =>
      createCertificatesCheck({
        files: { pairs, authoritiesFile: undefined },
        tlsName: 'x.b.test',
        clock,
        accountNames: createAccountNames(rowsWith(realms, fqdns)),
      })
    const good = await statesOf(checkOf(['a.test'], ['x.b.test']))
    expect(
      good.filter((line) => line.includes('expires in') || line.includes('No certificate')),
    ).toHaveLength(2)
    expect(good).toContain('ok One of them is for x.b.test, as SWITCHHOOK_TLS_NAME says')
    expect(await statesOf(checkOf(['a.test', 'b.test', 'x.y.b.test'], ['c.test']))).toEqual(
      expect.arrayContaining([
        'bad No certificate has the names of the Microsoft Teams tenants c.test',
        expect.stringMatching(/^note No certificate has the SIP realms b.test, x.y.b.test: phones/),
      ]),
    )
  })

  it('says of each what cannot be used, and what the others are', async () => {
    const [one, other] = [
      authority.issue({ names: 'DNS:a.test' }),
      authority.issue({ names: 'DNS:b.test', days: 90 }),
    ]
    const { certificateFile } = one
    const gone = join(folder, 'gone.pem')
    const check = createCertificatesCheck({
      files: {
        pairs: [{ certificateFile, keyFile: other.keyFile }, { certificateFile: gone, keyFile: gone }, other],
        authoritiesFile: undefined,
        revokedFile: one.keyFile,
      },
      tlsName: 'a.test',
      clock,
    })
    expect(await statesOf(check)).toEqual([
      `bad The certificate cannot be used: ${other.keyFile} is not the key of ${certificateFile}`,
      `bad The certificate cannot be used: ${gone} cannot be read, name a file of PEM in SWITCHHOOK_TLS_CERTIFICATE`,
      expect.stringContaining('of SWITCHHOOK_TLS_REVOKED holds no'),
      expect.stringMatching(/^ok The certificate of DNS:b.test is valid/),
      expect.stringMatching(/^note It does not lead to an authority/),
      'note The names of the certificates and what ports show are not checked until each can be read',
    ])
  })

  it('goes on with their names where only a file beside them cannot be used', async () => {
    const one = authority.issue({ names: 'DNS:a.test', days: 90 })
    const files = { pairs: [one], authoritiesFile: undefined, revokedFile: one.keyFile }
    const check = createCertificatesCheck({ files, tlsName: 'a.test', clock })
    expect(await statesOf(check)).toEqual([
      expect.stringContaining('of SWITCHHOOK_TLS_REVOKED holds no'),
      expect.stringMatching(/^ok The certificate of DNS:a.test is valid/),
      expect.stringMatching(/^note It does not lead/),
      'ok It is for a.test, as SWITCHHOOK_TLS_NAME says',
    ])
    expect(await cureOf(check)).toContain('SWITCHHOOK_TLS_REVOKED')
  })
})

describe('the process of browsers', () => {
  const user = { uid: 65_534, gid: 65_534 }
  const look = (status: string, browserUser?: typeof user, pid: number | undefined = 7) =>
    createConfinementCheck({
      browserUser,
      platform: async () => ({ health: 'ok', pid }),
      statusOf: async () => status,
    }).look()
  const statusOf = (uid: number, filter: 0 | 2, fixed: 0 | 1): string =>
    `Uid:\t${uid}\t${uid}\t${uid}\t${uid}\nNoNewPrivs:\t${fixed}\nSeccomp:\t${filter}\n`

  it.each([
    ['a user of its own and a filter', statusOf(0, 2, 1), user, ['ok', 'ok'], /user of its own, 65534/],
    ['root', statusOf(0, 0, 0), undefined, ['note', 'note'], /runs as root/],
    ['the user of the platform', statusOf(998, 2, 1), undefined, ['note', 'ok'], /can read the key file/],
    ['a user that it cannot have', statusOf(998, 2, 0), user, ['bad', 'note'], /may not start/],
    ['a system that does not say', '', undefined, ['note'], /Not checked/],
  ] as const)('is judged with %s', async (_, status, browserUser, states, what) => {
    const findings = await look(status, browserUser)
    expect(findings.map(({ state }) => state)).toEqual(states)
    expect(findings[0]?.what).toMatch(what)
    if (states[0] === 'note' && status !== '') expect(findings[0]?.what).toContain('OpenSSL 1.1.1w')
  })
})

describe('disk and file limits', () => {
  it('wants room, and a directory that others may not enter', async () => {
    const options = { dataDir: folder, recordingSpoolMb: 1, warningOn }
    expect(await statesOf(createDiskCheck(options))).toEqual([
      `ok The data directory ${folder} can be written`,
      expect.stringMatching(/^ok \d+ MB are free/),
    ])
    writeFileSync(join(folder, 'letter.txt'), '')
    chmodSync(folder, 0o755)
    const full = createDiskCheck({ ...options, minFreeMb: Number.MAX_SAFE_INTEGER })
    expect(await statesOf(full)).toEqual([
      `bad Other users may enter the data directory ${folder}`,
      expect.stringMatching(/^bad \d+ MB are free/),
    ])
    expect(await cureOf(full)).toContain('Run "chmod 700" on it')
    expect(await statesOf(createDiskCheck({ ...options, dataDir: join(folder, 'a', 'b') }))).toContainEqual(
      `ok The data directory ${join(folder, 'a', 'b')} is made at the first start`,
    )
  })

  it.each([
    ['is a file', () => join(folder, 'file'), 'cannot be used'],
    ['is below a file', () => join(folder, 'file', 'data'), 'cannot be made'],
    ['is where nothing can be made', () => '/proc/switchhook/data', 'cannot be made'],
    ['has too long a name', () => join(folder, 'n'.repeat(256)), 'cannot be made'],
  ])('says of a directory that %s how to choose another one, and nothing else', async (_, path, sentence) => {
    writeFileSync(join(folder, 'file'), '', { mode: 0o755 })
    const check = createDiskCheck({ dataDir: path(), recordingSpoolMb: 1, warningOn })
    expect(await statesOf(check)).toEqual([
      expect.stringMatching(`^bad The data directory ${path()} ${sentence}: `),
    ])
    expect(await cureOf(check)).toContain('SWITCHHOOK_DATA_DIR')
  })

  it('counts the files of the running platform', async () => {
    const child = spawn('prlimit', ['--nofile=256', 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
    try {
      // Its echo shows that the limit is set.
      child.stdin.write('x')
      await once(child.stdout, 'data')
      const running = async (): Promise<RunningPlatform> => ({ health: 'ok', pid: child.pid })
      const small = createFileLimitsCheck({ maxCalls: 2000, platform: running })
      expect(await statesOf(small)).toEqual([
        `bad The platform (process ${child.pid}) may open 256 files; 2000 calls and their connections take 5000`,
      ])
      expect(await cureOf(small)).toContain('LimitNOFILE')
      const few = createFileLimitsCheck({ maxCalls: 1, platform: async () => absent })
      expect(await statesOf(few)).toEqual([expect.stringMatching(/^ok A process started from here may open/)])
    } finally {
      child.kill()
    }
  })
})

describe('public address', () => {
  const look = (options: { bind?: string; publicAddress?: string; isProduction?: boolean }) =>
    statesOf(
      createPublicAddressCheck({
        bind: '0.0.0.0',
        publicAddress: undefined,
        isProduction: false,
        clock,
        addresses: ['198.51.100.7', '127.0.0.1'],
        ...options,
      }),
    )

  it('tells a machine of its own from one behind NAT, and from one that no peer can reach', async () => {
    expect(await look({ publicAddress: '198.51.100.7' })).toEqual([
      expect.stringMatching(/^ok .*machine's own/),
    ])
    expect(await look({ publicAddress: '203.0.113.9' })).toEqual([
      expect.stringMatching(/^note .*NAT.*Not checked/),
    ])
    expect(await look({ publicAddress: '2001:db8::1' })).toEqual([expect.stringMatching(/^bad .*IP version/)])
    expect(await look({ bind: '127.0.0.1' })).toEqual([expect.stringMatching(/^note .*not reachable/)])
    expect(await look({ bind: '10.1.2.3', isProduction: true })).toEqual([
      expect.stringMatching(/^bad .*10.1.2.3/),
    ])
  })
})

describe('sound', () => {
  it('sends itself a packet to the announced address, and says whether it arrived', async () => {
    const first = await freePorts(3)
    // One pair.
    const rtpPorts = { first, last: first + 2 }
    const look = (publicAddress: string | undefined) =>
      statesOf(createSoundCheck({ bind: '127.0.0.1', publicAddress, rtpPorts, clock }))
    const place = (address: string) => `UDP port ${first + (first % 2)} of ${address}`
    expect(await look(undefined)).toEqual([
      `ok A packet that was sent to ${place('127.0.0.1')} arrived here, from 127.0.0.1`,
    ])
    // Nothing of the platform is bound to this address.
    expect(await look('127.0.0.99')).toEqual([
      `note A packet that was sent to ${place('127.0.0.99')} did not arrive here`,
    ])
    const taken = await openSockets(new PortPool(rtpPorts), '127.0.0.1')
    expect(await look(undefined)).toEqual(['note Not checked: no port of SWITCHHOOK_RTP_PORTS is free now'])
    await taken.close()
  })
})

describe('clock', () => {
  const look = (...samples: ClockSample[]) =>
    statesOf(createClockCheck({ rows: async () => undefined, samples: async () => samples, clock }))

  it('believes the nearest of the clocks that were seen, and none without', async () => {
    const right = { of: 'a.test', leastMs: -900, mostMs: 300 }
    const behind = { of: 'b.test', leastMs: 61_000, mostMs: 62_000 }
    expect(await look()).toEqual([expect.stringMatching(/^note Not checked/)])
    expect(await look(behind)).toEqual(['bad It is 61 seconds behind that of b.test'])
    expect(await look({ of: 'c.test', leastMs: -9000, mostMs: -8000 })).toEqual([
      'bad It is 8 seconds ahead of that of c.test',
    ])
    expect(await look(behind, right)).toEqual(['ok It agrees with that of a.test'])
  })

  it('takes the time from the Date header of a response', async () => {
    const samples: ClockSample[] = []
    const at = Date.parse('2026-01-01T00:00:00Z')
    const outgoing = notingDates(
      {
        request: async () => ({
          status: 200,
          headers: { date: 'Thu, 01 Jan 2026 00:01:00 GMT' },
          body: Buffer.alloc(0),
        }),
        converse: async () => undefined,
        close: async () => undefined,
      },
      { clock: { ...clock, now: () => at }, note: (sample) => void samples.push(sample) },
    )
    const limits = { answerTimeoutMs: 1, totalTimeoutMs: 1, maxBodyBytes: 1 }
    await outgoing.request({ url: 'https://v.test/a?b=c', method: 'GET', subject: 'it', ...limits })
    expect(samples).toEqual([{ of: 'v.test', leastMs: 60_000, mostMs: 61_000 }])
  })
})

describe('realms and credentials', () => {
  const realmRows = async () =>
    ({
      for: () => ({
        accounts: {
          list: async () => ['phones.example.test', 'voice.example.com'].map((sip_realm) => ({ sip_realm })),
        },
      }),
    }) as never
  const realmsCheck = (
    options: Partial<Parameters<typeof createRealmsCheck>[0]>,
  ): ReturnType<typeof createRealmsCheck> =>
    createRealmsCheck({
      rows: realmRows,
      names: { lookup: async () => [{ address: '192.0.2.77', family: 4 }] as never },
      leadsToUs: async () => false,
      updates: undefined,
      address: '127.0.0.1',
      ...options,
    })
  const unknown = Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })

  it('calls no realm wrong whose phones may use an outbound proxy', async () => {
    expect(await statesOf(realmsCheck({ leadsToUs: () => Promise.reject(unknown) }))).toEqual([
      expect.stringMatching(/^note phones\.example\.test is a reserved name that is not in DNS/),
      expect.stringMatching(/^note voice\.example\.com is not known to DNS/),
    ])
    expect(await statesOf(realmsCheck({}))).toEqual([
      expect.stringMatching(/^note phones\.example\.test leads to 192\.0\.2\.77/),
      expect.stringMatching(/^note voice\.example\.com leads to 192\.0\.2\.77/),
    ])
    const silent = new AppError('dns_unavailable', 'no name server responds')
    expect(await statesOf(realmsCheck({ leadsToUs: () => Promise.reject(silent) }))).toEqual([
      expect.stringMatching(/^note No name server responds for phones\.example\.test/),
      expect.stringMatching(/^note No name server responds for voice\.example\.com/),
    ])
  })

  it('calls a realm wrong that is not in DNS although the platform writes its records', async () => {
    const updates = { update: async () => undefined } as never
    expect(await statesOf(realmsCheck({ updates, leadsToUs: () => Promise.reject(unknown) }))).toEqual([
      expect.stringMatching(/^ok The name server of SWITCHHOOK_DNS_SERVER/),
      expect.stringMatching(/^note phones\.example\.test/),
      expect.stringMatching(/^bad voice\.example\.com is not known to DNS/),
    ])
  })

  it('names a name server that cannot be reached, and does not call unknown what is green', async () => {
    const { port } = foreign.address() as AddressInfo
    const check = createRealmsCheck({
      rows: () => Promise.reject(new Error('the database is away')),
      names: { lookup: async () => [] },
      leadsToUs: async () => true,
      // No server listens there over UDP.
      updates: createUpdateClient({
        server: { address: '127.0.0.1', port },
        zone: 'example.test',
        key: { name: 'k', secret: Buffer.from('secret') },
        clock,
        tries: [200],
      }),
      address: '127.0.0.1',
    })
    expect(await statesOf(check)).toEqual([
      expect.stringMatching(/^bad the name server (cannot be reached|did not answer)/),
      expect.stringMatching(/^note Not checked/),
    ])
    const rows = async () => undefined
    const buckets = createBucketsCheck({
      rows,
      isOffline: true,
      limitMs: 1000,
      test: () => Promise.reject(new Error('asked')),
    })
    expect(await statesOf(buckets)).toEqual([expect.stringMatching(/^note Not checked/)])
  })
})

describe('passwords', () => {
  const passwords = (isProduction: boolean, publishedSettings: readonly string[] = []): Check =>
    createPasswordsCheck({
      rows: async () =>
        ({
          for: () => ({
            api_keys: { count: async () => 0 },
            clients: {
              list: async () => [
                { username: 'alice', password: 'a-long-secret' },
                { username: 'bob', password: '1' },
                { username: 'carol', password: 'long enough' },
              ],
            },
            voip_carriers: {
              list: async () => [
                { name: 'peer', inbound_auth_password: 'short', register_password: null },
                { name: 'trunk', inbound_auth_password: null, register_password: 'trunk-secret' },
              ],
            },
          }),
        }) as never,
      publishedSettings,
      minSipPassword: 8,
      isProduction,
    })

  it('names the owners of those that are short or printed in the documentation, and none of them', async () => {
    const found = await statesOf(passwords(true, ['SWITCHHOOK_ADMIN_API_KEY']))
    expect(found).toEqual([
      expect.stringMatching(/^bad The value of SWITCHHOOK_ADMIN_API_KEY is printed/),
      'bad SIP passwords are printed in the documentation: client alice, registration of carrier trunk',
      expect.stringMatching(/^bad SIP passwords have fewer than 8 characters, .+: client bob, carrier peer$/),
    ])
    expect(found.join()).not.toContain('a-long-secret')
    for (const line of await statesOf(passwords(false))) expect(line).toMatch(/^note /)
  })
})

describe('the report', () => {
  const never: Check = { name: 'slow', look: () => new Promise<readonly Finding[]>(() => undefined) }
  const good: Check = { name: 'good', look: async () => [ok('fine\u001B[2J\n')] }

  it('ends although a check does not, has colours on wish alone, and passes no control character on', async () => {
    const results = await examine([good, never], { clock, limitMs: 20 })
    expect(reportOf(results, { isColoured: false })).toBe(
      [
        '  ok    good  fine [2J ',
        '  BAD   slow  No result within 0.02 seconds',
        '              -> A server that it depends on does not respond: try it again.',
        '',
        'One line is BAD.',
        '',
      ].join('\n'),
    )
    expect(reportOf(results, { isColoured: true })).toContain('\u001B[31mBAD \u001B[0m')
  })
})
