// The findings of the setup doctor beside a running platform: it changes nothing.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNameServer, type ScriptedNameServer } from '../support/name-server.ts'
import { codeCache, startPlatform, type Platform } from '../support/platform-process.ts'
import { freePorts } from '../support/ports.ts'
import { ToolProcess } from '../support/processes.ts'

let platform: Platform
let nameServer: ScriptedNameServer
let httpsPort: number
const secret = 'dg-0123456789abcdef0123456789abcdef'

beforeAll(async () => {
  httpsPort = await freePorts(1)
  platform = await startPlatform({ env: { SWITCHHOOK_HTTPS_PORT: String(httpsPort) } })
  nameServer = await startNameServer()
  const { api } = platform
  const [provider] = await api.must<{ service_provider_sid: string }[]>('GET', '/ServiceProviders')
  const { service_provider_sid } = provider ?? {}
  for (const realm of ['here.example.test', 'elsewhere.example.test', 'nowhere.example.net'])
    await api.must('POST', '/Accounts', { name: realm, service_provider_sid, sip_realm: realm })
  // No server listens at this address.
  const uri = 'http://127.0.0.1:9'
  await api.must('POST', `/ServiceProviders/${service_provider_sid}/SpeechCredentials`, {
    vendor: 'deepgram',
    api_key: secret,
    use_for_tts: true,
    deepgram_tts_uri: uri,
    deepgram_stt_uri: uri,
  })
})
afterAll(async () => {
  await platform.remove()
  await nameServer.close()
})

const root = join(import.meta.dirname, '../..')

/** Runs the doctor beside the platform, with its settings and few files. */
async function seeDoctor(
  changes: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { httpPort, sip, dataDir } = platform
  const child = new ToolProcess({
    command: 'prlimit',
    args: ['--nofile=256', process.execPath, join(root, 'src/main.ts'), 'doctor'],
    cwd: root,
    env: {
      ...codeCache(),
      SWITCHHOOK_BIND: sip.address,
      SWITCHHOOK_PUBLIC_ADDRESS: sip.address,
      SWITCHHOOK_HTTP_PORT: String(httpPort),
      SWITCHHOOK_HTTPS_PORT: String(httpsPort),
      SWITCHHOOK_SIP_PORT: String(sip.port),
      // This port is not open: the platform was started without it.
      SWITCHHOOK_SIPS_PORT: String(httpPort + 101),
      SWITCHHOOK_RTP_PORTS: `${httpPort + 2}-${httpPort + 99}`,
      SWITCHHOOK_DATA_DIR: dataDir,
      SWITCHHOOK_NAME_SERVERS: nameServer.at,
      ...changes,
    },
  })
  const { code } = await child.exited
  return { code, output: child.output }
}

describe('npm run doctor', () => {
  it('doctor accepts the running platform’s ports, names each fault with its cure, and changes nothing', async () => {
    const { api, dataDir, httpPort, sip } = platform
    nameServer.addresses('here.example.test', [sip.address])
    nameServer.addresses('elsewhere.example.test', ['192.0.2.77'])
    const audit = await api.must('GET', '/AuditLog?page=1&count=100')
    const files = await readdir(dataDir, { recursive: true })

    const { code, output } = await seeDoctor()

    const lines = output.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '))
    const found = (line: string): void => expect(lines, output).toContainEqual(expect.stringContaining(line))
    found(`ok platform The platform (process ${platform.pid}) runs and is well`)
    found(`ok ports REST API: TCP port ${httpPort} of 127.0.0.1 is the running platform's`)
    found(`ok ports SIP: UDP port ${sip.port} of 127.0.0.1 is the running platform's`)
    found(`ok ports SIP: TCP port ${sip.port} of 127.0.0.1 is the running platform's`)
    found(
      `BAD ports SIP over TLS: TCP port ${httpPort + 101} of 127.0.0.1 is free, although the platform runs`,
    )
    found(`ok ports HTTPS: TCP port ${httpsPort} of 127.0.0.1 is the running platform's`)
    found('note certificates It is for development: the platform made it')
    found(`ok certificates HTTPS at port ${httpsPort} shows the certificate of the file`)
    found('ok public address Phones and carriers see 127.0.0.1')
    found('ok sound A packet that was sent to UDP port')
    found('ok database SQLite')
    // The limit is that of the platform's process, not that of the doctor.
    found(`ok file limits The platform (process ${platform.pid}) may open`)
    found('ok realms 1 of 3 lead to this platform')
    found('note realms elsewhere.example.test leads to 192.0.2.77')
    found('note realms nowhere.example.net is not known to DNS')
    found('-> Phones with 127.0.0.1, or an edge in front of it, as their outbound proxy need no DNS.')
    found('BAD speech Speaking with deepgram of provider')
    found('note buckets No account has a bucket')
    found('note clock Not checked')
    expect(code).toBe(1)
    expect(output).not.toContain(secret)
    expect(output).not.toContain('\u001B')
    expect((await readdir(dataDir, { recursive: true })).sort()).toEqual(files.sort())
    expect(await api.must('GET', '/AuditLog?page=1&count=100')).toEqual(audit)
  })
  it('doctor does not treat the port of another platform as that of its own', async () => {
    const other = await startPlatform()
    try {
      const { output } = await seeDoctor({ SWITCHHOOK_HTTP_PORT: String(other.httpPort) })
      expect(output).toMatch(
        new RegExp(
          `BAD +ports +REST API: TCP port ${other.httpPort} of 127.0.0.1 is in use by another program`,
        ),
      )
    } finally {
      await other.remove()
    }
  })

  it('doctor has a cure for each bad line if neither data nor temporary folders can be made', async () => {
    const { code, output } = await seeDoctor({ SWITCHHOOK_DATA_DIR: '/proc/data', TMPDIR: '/proc/tmp' })
    expect(code).toBe(1)
    expect(output).toMatch(
      /BAD +disk +The data directory \/proc\/data cannot be made: .+\n +-> .+ SWITCHHOOK_DATA_DIR\./,
    )
    for (const name of ['speech', 'buckets'])
      expect(output).toMatch(
        new RegExp(`BAD +${name} +No folder can be made in /proc/tmp .+\\n +-> Set TMPDIR`),
      )
    const lines = output.split('\n')
    for (const [index, line] of lines.entries())
      if (line.startsWith('  BAD')) expect(lines[index + 1], line).toMatch(/^ +-> \w/)
    expect(output).not.toMatch(/^ +at /m)
  })
})
