// The process of browsers as used by the main thread, with a test in place of the process.
import { spawn, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { until } from '../../../test/support/wait.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLogger, type Logger } from '../../lib/log.ts'
import { BrowserPaths } from './browser-paths.ts'
import type { FromBrowsers, OwnSide, PathLoss, ToBrowsers } from './messages.ts'

const own: OwnSide = {
  ufrag: 'abcd',
  pwd: 'p'.repeat(24),
  fingerprint: { algorithm: 'sha-256', value: 'AA' },
}

/** Keeps the messages sent to it. The test sends its messages. */
class PlayedProcess extends EventEmitter {
  readonly received: ToBrowsers[] = []
  readonly signals: string[] = []
  connected = true
  exitCode: number | null = null
  signalCode: string | null = null

  send(message: ToBrowsers): boolean {
    this.received.push(message)
    return true
  }

  say(message: FromBrowsers): void {
    this.emit('message', message)
  }

  kill(signal: string): void {
    this.signals.push(signal)
    setImmediate(() => this.end())
  }

  disconnect(): void {
    this.connected = false
  }

  end(): void {
    this.connected = false
    this.exitCode = 1
    this.emit('exit', 1, null)
  }
}

function createPaths() {
  const clock = createFakeClock()
  const processes: PlayedProcess[] = []
  let isRefused = false
  const paths = new BrowserPaths({
    bind: '127.0.0.1',
    port: 45_000,
    limits: { connectMs: 30_000, peers: 16 },
    clock,
    log: silentLogger,
    createProcess: () => {
      if (isRefused) throw new Error('spawn ENOMEM')
      const played = new PlayedProcess()
      processes.push(played)
      return played as EventEmitter as ChildProcess
    },
  })
  const said: string[] = []
  const events = {
    onConnected: ({ address }: { address: string }) => void said.push(`connected ${address}`),
    onLost: (loss: PathLoss) => void said.push(loss),
  }
  const last = (): PlayedProcess => {
    const played = processes.at(-1)
    if (played === undefined) throw new Error('no process was started')
    return played
  }
  const ready = (): void => last().say({ kind: 'ready', port: 45_000, gatePort: 4444 })
  /** Returns an open path. */
  const open = async () => {
    const opening = paths.open(undefined, events)
    if (last().received.length === 1) ready()
    await turn()
    const { peer } = last().received.at(-1) as ToBrowsers & { kind: 'open' }
    last().say({ kind: 'opened', peer, own })
    return opening
  }
  const refuse = (refused: boolean): void => void (isRefused = refused)
  return { paths, clock, processes, last, ready, open, events, said, refuse }
}

describe('the first path', () => {
  it('starts the process with a secret of its own, and is open when the process reports it', async () => {
    const { last, processes, open } = createPaths()
    const path = await open()
    const [start] = last().received
    expect(start).toMatchObject({ kind: 'start', bind: '127.0.0.1', port: 45_000 })
    expect(path).toMatchObject({ peer: 1, port: 45_000, own, gate: { port: 4444 } })
    expect(path.gate.token).toMatch(/^[0-9a-f]{64}$/)
    expect(await open()).toMatchObject({ peer: 2 })
    expect(processes).toHaveLength(1)
  })

  it('is refused where the port is taken, and the next one tries again', async () => {
    const { paths, events, last, processes, open } = createPaths()
    const opening = paths.open(undefined, events)
    last().say({ kind: 'failed', reason: 'in use' })
    await expect(opening).rejects.toMatchObject({ code: 'browsers_unavailable', message: /45000.*in use/ })
    expect(last().connected).toBe(false)
    expect(await open()).toMatchObject({ peer: 1 })
    expect(processes).toHaveLength(2)
    // The end of the first process does not affect the second one.
    processes[0]?.end()
    expect(await open()).toMatchObject({ peer: 2 })
    expect(processes).toHaveLength(2)
  })

  it('is refused where the system has no memory for the process, and the next one tries again', async () => {
    const { paths, events, open, refuse } = createPaths()
    refuse(true)
    await expect(paths.open(undefined, events)).rejects.toMatchObject({ code: 'browsers_unavailable' })
    refuse(false)
    expect(await open()).toMatchObject({ peer: 1 })
  })

  it('is refused where the process does not start in time, and that is killed', async () => {
    const { paths, events, clock, last } = createPaths()
    const opening = paths.open(undefined, events)
    clock.advance(10_000)
    await expect(opening).rejects.toThrow('did not start in time')
    expect(last().signals).toEqual(['SIGKILL'])
    expect(clock.pending).toBe(0)
    await turn()
  })

  it.each([
    [
      'cannot be started',
      (played: PlayedProcess) => played.emit('error', new Error('EAGAIN')),
      'could not be started',
    ],
    ['ends at once', (played: PlayedProcess) => played.end(), 'ended at its start'],
  ])('is refused where the process %s', async (_, fail, message) => {
    const { paths, events, clock, last } = createPaths()
    const opening = paths.open(undefined, events)
    fail(last())
    await expect(opening).rejects.toThrow(message)
    expect(clock.pending).toBe(0)
  })
})

describe('a process that has died', () => {
  it('gets messages until that is noticed, each of which is an error of its own', async () => {
    const { last, open, said } = createPaths()
    const paths = [await open(), await open()]
    // Node.js reports so each message that it cannot write.
    last().send = () => last().emit('error', new Error('write EPIPE'))
    expect(() => paths.forEach((path) => path.close())).not.toThrow()
    last().end()
    expect(said).toEqual([])
  })
})

describe('a path', () => {
  it('is refused by the process with its reason', async () => {
    const { paths, events, last, ready, clock } = createPaths()
    const opening = paths.open(undefined, events)
    ready()
    await turn()
    last().say({ kind: 'refused', peer: 1, reason: 'no more paths' })
    await expect(opening).rejects.toThrow('no more paths')
    expect(clock.pending).toBe(0)
  })

  it('is given up, and closed, where the process does not respond', async () => {
    const { paths, events, last, ready, clock } = createPaths()
    const opening = paths.open(undefined, events)
    ready()
    await turn()
    clock.advance(3000)
    await expect(opening).rejects.toThrow('did not respond in time')
    expect(last().received.at(-1)).toEqual({ kind: 'close', peer: 1 })
    // Its late message opens nothing.
    last().say({ kind: 'opened', peer: 1, own })
    last().say({ kind: 'lost', peer: 1, loss: 'no-path' })
  })

  it('reports its events until it is closed, and is closed once', async () => {
    const { open, last, said } = createPaths()
    const path = await open()
    last().say({ kind: 'connected', peer: 1, address: '192.0.2.9', port: 5000 })
    last().say({ kind: 'connected', peer: 9, address: '192.0.2.1', port: 5000 })
    path.close()
    path.close()
    last().say({ kind: 'lost', peer: 1, loss: 'consent-lost' })
    expect(said).toEqual(['connected 192.0.2.9'])
    expect(last().received.filter(({ kind }) => kind === 'close')).toHaveLength(1)
  })

  it('is not closed in the process that has said that it is lost', async () => {
    const { open, last, said } = createPaths()
    const path = await open()
    last().say({ kind: 'lost', peer: 1, loss: 'consent-lost' })
    path.close()
    expect(said).toEqual(['consent-lost'])
    expect(last().received.some(({ kind }) => kind === 'close')).toBe(false)
  })

  it('is lost with the process, and the next one starts another', async () => {
    const { paths, events, open, last, said, processes, clock } = createPaths()
    const path = await open()
    const opening = paths.open(undefined, events)
    await turn()
    last().end()
    await expect(opening).rejects.toThrow('the process of browsers ended')
    expect(said).toEqual(['process-lost', 'process-lost'])
    expect(clock.pending).toBe(0)
    // No message can reach it any more.
    const { ufrag, pwd, fingerprint } = own
    path.accept({ fingerprint, setup: 'active', ice: { ufrag, pwd, candidates: [] } })
    path.close()
    await open()
    expect(processes).toHaveLength(2)
  })
})

describe('a stop', () => {
  it('lets the process end by itself, and waits for that', async () => {
    const { paths, open, last, clock } = createPaths()
    await open()
    let isStopped = false
    const stopping = paths.stop().then(() => (isStopped = true))
    await turn()
    expect([last().connected, isStopped]).toEqual([false, false])
    last().end()
    await stopping
    expect(clock.pending).toBe(0)
    await paths.stop()
  })

  it('kills a process that does not', async () => {
    const { paths, open, last, clock } = createPaths()
    await open()
    const stopping = paths.stop()
    await turn()
    clock.advance(10_000)
    await stopping
    expect(last().signals).toEqual(['SIGKILL'])
  })

  it('without a process does nothing, and no path is opened after it', async () => {
    const { paths, events, processes } = createPaths()
    await paths.stop()
    await expect(paths.open(undefined, events)).rejects.toThrow('the platform is stopping')
    expect(processes).toEqual([])
  })
})

describe('a port of browsers that another program has', () => {
  const logged: [object, string][] = []
  const log = { ...silentLogger, warn: (fields: object, text: string) => void logged.push([fields, text]) }

  it('is logged at the start and at the first call, with the setting, and the library prints nothing', async () => {
    const socket = createSocket('udp4')
    onTestFinished(() => void socket.close())
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const { port } = socket.address()
    const limits = { connectMs: 30_000, peers: 16 }
    const options = { bind: '127.0.0.1', port, limits, clock: systemClock, log: log as unknown as Logger }
    const paths = new BrowserPaths(options)
    await paths.lookAtPort()
    const reason = `UDP port ${port} of 127.0.0.1 is in use by another program: stop that program, or set SWITCHHOOK_BROWSER_PORT to a free port.`
    expect(logged).toEqual([[{ port, reason }, 'browsers cannot call or be called']])
    const events = { onConnected: () => undefined, onLost: () => undefined }
    await expect(paths.open(undefined, events)).rejects.toMatchObject({
      code: 'browsers_unavailable',
      message: expect.stringContaining(reason) as string,
    })
    await paths.stop()
    expect(logged).toHaveLength(1)
  })

  it('what the process prints is logged, a bounded part of it', async () => {
    logged.length = 0
    const printing = (): ChildProcess => {
      const program = "for (let n = 0; n < 200; n++) console.error('x'.repeat(1000))"
      return spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    }
    const limits = { connectMs: 30_000, peers: 16 }
    const options = { bind: '127.0.0.1', port: 0, limits, clock: systemClock, log: log as unknown as Logger }
    const paths = new BrowserPaths({ ...options, createProcess: printing })
    const events = { onConnected: () => undefined, onLost: () => undefined }
    await expect(paths.open(undefined, events)).rejects.toThrow('ended at its start')
    await until('the lines', () => logged.length === 50)
    expect(logged[0]).toEqual([{ line: 'x'.repeat(300) }, 'the process of browsers printed a line'])
  })
})
