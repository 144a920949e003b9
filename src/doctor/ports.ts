// The check that the ports of the settings are free, or those of the running platform.
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, createServer, isIPv6 } from 'node:net'
import { bad, findingOf, note, ok, type Check, type Finding } from './doctor.ts'
import { demandPorts } from '../media/transport/ports.ts'
import type { PortRange } from '../media/worker-setup.ts'
import { toListenError } from '../network/listen-error.ts'
import { isRunning, reachable, type RunningPlatform } from './running-platform.ts'

export interface PortsOptions {
  readonly bind: string
  readonly httpPort: number
  readonly sipPort: number
  readonly httpsPort: number | undefined
  readonly sipsPort: number | undefined
  readonly wssPort: number | undefined
  readonly browserPort: number
  readonly rtpPorts: PortRange
  readonly mediaWorkers: number
  readonly platform: () => Promise<RunningPlatform>
}

interface Place {
  readonly use: string
  readonly setting: string
  readonly transport: 'TCP' | 'UDP'
  readonly port: number | undefined
  /** Reports whether a Switchhook listens there; left out where /health is enough. */
  readonly isOurs?: (address: string, port: number) => Promise<boolean>
}

const answerMs = 1500

export function createPortsCheck(options: PortsOptions): Check {
  const sip = { use: 'SIP', setting: 'SWITCHHOOK_SIP_PORT', port: options.sipPort } as const
  const places: readonly Place[] = [
    { use: 'REST API', setting: 'SWITCHHOOK_HTTP_PORT', transport: 'TCP', port: options.httpPort },
    { use: 'HTTPS', setting: 'SWITCHHOOK_HTTPS_PORT', transport: 'TCP', port: options.httpsPort },
    { ...sip, transport: 'UDP', isOurs: speaksSipOverUdp },
    { ...sip, transport: 'TCP', isOurs: speaksSipOverTcp },
    { use: 'SIP over TLS', setting: 'SWITCHHOOK_SIPS_PORT', transport: 'TCP', port: options.sipsPort },
    { use: 'WSS', setting: 'SWITCHHOOK_WSS_PORT', transport: 'TCP', port: options.wssPort },
  ]
  return {
    name: 'ports',
    async look() {
      const platform = await options.platform()
      const findings = await Promise.all([
        ...places.map((place) => lookAt(place, options.bind, platform)),
        lookAtBrowsers(options, platform),
        lookAtMedia(options),
      ])
      return findings.flat()
    },
  }
}

async function lookAt(
  { use, setting, transport, port, isOurs }: Place,
  address: string,
  platform: RunningPlatform,
): Promise<readonly Finding[]> {
  if (port === undefined) return []
  if (port === 0) return [note(`${use}: any free ${transport} port, another one at each start`)]
  const where = `${use}: ${transport} port ${port} of ${address}`
  const failure = await tryBinding(transport, address, port)
  if (failure === undefined) {
    if (!isRunning(platform)) return [ok(`${where} is free`)]
    const cure = 'Start the platform again with these settings, or run the doctor with those it has.'
    return [bad(`${where} is free, although the platform runs: it was started with other settings`, cure)]
  }
  const isTaken = 'code' in failure && failure.code === 'EADDRINUSE'
  if (isTaken && isRunning(platform) && (await isOurs?.(reachable(address), port)) !== false)
    return [ok(`${where} is the running platform's`)]
  const { what, ...rest } = findingOf(toListenError(failure, { setting, transport, address, port }))
  return [{ ...rest, what: `${use}: ${what}` }]
}

/** The running platform takes this port when the first browser calls. */
async function lookAtBrowsers(
  { bind: address, browserPort: port }: PortsOptions,
  platform: RunningPlatform,
): Promise<readonly Finding[]> {
  const place = { use: 'browsers', setting: 'SWITCHHOOK_BROWSER_PORT', transport: 'UDP', port } as const
  if (port === 0 || !isRunning(platform)) return lookAt(place, address, platform)
  const where = `browsers: UDP port ${port} of ${address}`
  const failure = await tryBinding('UDP', address, port)
  if (failure === undefined) return [ok(`${where} is free, for the first browser that calls`)]
  return [
    note(
      `${where} is taken: by the running platform once a browser has called, or by another program`,
      'If no browser has called, set SWITCHHOOK_BROWSER_PORT to a free port and start the platform again.',
    ),
  ]
}

/** Takes the port for a moment, as a start would. */
function tryBinding(transport: 'TCP' | 'UDP', host: string, port: number): Promise<Error | undefined> {
  const { promise, resolve } = Promise.withResolvers<Error | undefined>()
  if (transport === 'UDP') {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    socket.once('error', (error) => socket.close(() => resolve(error)))
    socket.bind({ address: host, port, exclusive: true }, () => socket.close(() => resolve(undefined)))
  } else {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  }
  return promise
}

async function lookAtMedia({ bind, rtpPorts, mediaWorkers }: PortsOptions): Promise<readonly Finding[]> {
  const { first, last } = rtpPorts
  try {
    await demandPorts(bind, rtpPorts, mediaWorkers)
    return [ok(`RTP: there are free UDP ports among ${first}-${last} of ${bind}`)]
  } catch (error) {
    const { what, ...rest } = findingOf(error)
    return [{ ...rest, what: `RTP: ${what}` }]
  }
}

function question(transport: 'UDP' | 'TCP'): string {
  const tag = randomBytes(8).toString('hex')
  const lines = [
    'OPTIONS sip:doctor.invalid SIP/2.0',
    `Via: SIP/2.0/${transport} doctor.invalid;rport;branch=z9hG4bK${tag}`,
    'Max-Forwards: 0',
    `From: <sip:doctor@doctor.invalid>;tag=${tag}`,
    'To: <sip:doctor.invalid>',
    `Call-ID: ${tag}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
  ]
  return [...lines, '', ''].join('\r\n')
}

function isOurAnswer(bytes: Buffer): boolean {
  const text = bytes.toString('latin1')
  return text.startsWith('SIP/2.0 ') && /\r\nServer: *Switchhook\b/i.test(text)
}

function speaksSipOverUdp(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  const timer = setTimeout(() => resolve(false), answerMs)
  socket.on('error', () => resolve(false))
  socket.on('message', (bytes) => resolve(isOurAnswer(bytes)))
  socket.send(question('UDP'), port, host, () => undefined)
  return promise.finally(() => {
    clearTimeout(timer)
    socket.close()
  })
}

function speaksSipOverTcp(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port })
  socket.setTimeout(answerMs, () => resolve(false))
  socket.on('error', () => resolve(false))
  socket.on('close', () => resolve(false))
  socket.on('connect', () => socket.write(question('TCP')))
  socket.on('data', (bytes) => resolve(isOurAnswer(bytes)))
  return promise.finally(() => socket.destroy())
}
