// The media plane: its workers, the choice of a worker for a new session, and the clean-up when a worker dies.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../lib/clock.ts'
import { UnheardAddresses } from './rtp/unheard-addresses.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import { createLocalAddress, type LocalAddress } from '../network/local-address.ts'
import { BrowserPaths } from './browsers/browser-paths.ts'
import type { Media, MediaOptions, MediaSession, OpenOptions } from './media.ts'
import type { WorkerSetup } from './worker-setup.ts'
import { Places } from './worker/places.ts'
import { demandPorts, portPairs, splitPorts } from './transport/ports.ts'
import { chooseSection } from './sdp/far-end-section.ts'
import { parseSdp } from './sdp/sdp.ts'
import { Session } from './session/session.ts'
import { WorkerLink } from './worker/worker-link.ts'
import { promptLimitMs, Wirings } from './worker/wirings.ts'

function createThread(setup: WorkerSetup, name: string): Worker {
  return new Worker(new URL('./worker/worker.ts', import.meta.url), { workerData: setup, name })
}

interface Member {
  readonly link: WorkerLink
  readonly sessions: Map<string, Session>
  /** Sessions requested and not open yet. They count, so that a rush of calls is spread over the workers. */
  opening: number
  readonly places: Places
}

// The checks of a browser on a poor network continue for some seconds. After this time a caller who hears nothing
// has hung up.
const pathLimitMs = 30_000

export function createMedia(options: MediaOptions): Media {
  const {
    bind,
    publicAddress,
    limits,
    scratchDir,
    log,
    clock = systemClock,
    createWorker = createThread,
  } = options
  const wirings = new Wirings()
  const paths = new BrowserPaths({
    bind,
    port: options.browserPort ?? 0,
    user: options.browserUser,
    // One path for each pair of ports, since each path belongs to one session.
    limits: { connectMs: pathLimitMs, peers: portPairs(options.ports) },
    clock,
    log,
    ...(options.createProcess === undefined ? {} : { createProcess: options.createProcess }),
  })
  const members = splitPorts(options.ports, Math.max(1, options.workers)).map((ports, index): Member => {
    const sessions = new Map<string, Session>()
    const link = new WorkerLink({
      createWorker,
      setup: { bind, ports, limits, scratchDir: join(scratchDir, `worker-${index}`) },
      index,
      clock,
      log,
      onEvent: (id, event) => {
        // A tone reaches the others in the sound itself.
        if (event.type === 'digit' && event.isTone !== true) wirings.noteKey(id, event)
        // For a session in a room of another worker, that worker reports who is talking.
        ;(sessions.get(id) ?? sessionOf(id))?.emit(event)
      },
      onLost: () => {
        for (const session of sessions.values()) session.lose()
        wirings.lose(link)
      },
    })
    return { link, sessions, opening: 0, places: new Places() }
  })

  function sessionOf(id: string): Session | undefined {
    return members.map(({ sessions }) => sessions.get(id)).find((session) => session !== undefined)
  }

  const unheard = new UnheardAddresses(clock)
  let local: LocalAddress | undefined
  // Network interfaces are read when the first call comes, not at construction.
  const localAddress = (): LocalAddress => (local ??= createLocalAddress({ bind, publicAddress, clock }))
  const sizeOf = ({ sessions, opening }: Member): number =>
    [...sessions.values()].reduce((sum, { weight }) => sum + weight, opening)

  /**
   * Returns the workers that accept a session of this owner. Throws AppError overloaded or account_share if there is
   * none.
   */
  function admitting(owner: string | undefined): readonly Member[] {
    const refusals = members.map(({ link, places }) =>
      link.isRunning ? places.refusal(owner, link.load) : 'overloaded',
    )
    const found = members.filter((_, index) => refusals[index] === undefined)
    if (found.length > 0) return found
    if (refusals.includes('account_share'))
      throw new AppError('account_share', 'the media workers are at their capacity for this account')
    throw new AppError('overloaded', 'the media workers are at their capacity')
  }

  async function openOn(
    member: Member,
    { maySendTo, mustBeHeard, near, owner, offers, ...wishes }: OpenOptions,
  ): Promise<Session> {
    const id = createSid()
    member.opening += 1
    const leave = member.places.take(owner)
    try {
      const { port } = await member.link.request<'open'>({ kind: 'open', session: id }, promptLimitMs)
      const onClosed = (): void => {
        member.sessions.delete(id)
        leave()
        wirings.leave(id)
      }
      const local = localAddress()
      // If both far ends use one codec, their packets are passed on unchanged.
      const codecOfNear = near === undefined ? '' : (member.sessions.get(near)?.codec ?? '')
      const prefers = codecOfNear === '' ? wishes.prefers : codecOfNear
      const { link } = member
      const session = new Session({
        id,
        port,
        local,
        link,
        wirings,
        paths,
        maySendTo,
        mustBeHeard,
        unheard,
        prefers,
        offers,
        onClosed,
      })
      member.sessions.set(id, session)
      wirings.enter(session)
      return session
    } catch (error) {
      leave()
      // A worker that replies too late has opened a session without an owner.
      member.link.request<'close'>({ kind: 'close', session: id }, promptLimitMs).catch(() => undefined)
      throw error
    } finally {
      member.opening -= 1
    }
  }

  async function open(openOptions: OpenOptions = {}): Promise<MediaSession> {
    const isNear = ({ sessions }: Member): boolean =>
      openOptions.near !== undefined && sessions.has(openOptions.near)
    const candidates = admitting(openOptions.owner)
      .map((member) => ({ member, size: sizeOf(member), distance: isNear(member) ? 0 : 1 }))
      .sort((a, b) => a.distance - b.distance || a.size - b.size)
    for (const { member } of candidates) {
      try {
        return await openOn(member, openOptions)
      } catch (error) {
        // Another worker has its own ports.
        if (!(error instanceof AppError && error.code === 'no_media_port')) throw error
      }
    }
    throw new AppError('no_media_port', 'no RTP port is free')
  }

  return {
    name: 'media',
    async start() {
      await demandPorts(bind, options.ports, options.workers)
      await paths.lookAtPort()
      try {
        await Promise.all(members.map(({ link }) => link.start()))
      } catch (error) {
        await Promise.all(members.map(({ link }) => link.stop()))
        throw error
      }
    },
    async stop() {
      await Promise.all([paths.stop(), ...members.map(({ link }) => link.stop())])
      for (const { sessions } of members) sessions.clear()
      await rm(scratchDir, { recursive: true, force: true })
    },
    open,
    demandServable: (offer) => void chooseSection(parseSdp(offer), localAddress()),
    get openSessions() {
      return members.reduce((sum, { sessions }) => sum + sessions.size, 0)
    },
  }
}
