// The media plane: its workers, which of them takes a new session, and what is closed when one dies.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import { createSid } from '../lib/ids.ts'
import { createLocalAddress } from '../network/local-address.ts'
import type { LocalAddress } from '../network/local-address.ts'
import type { Media, MediaOptions, MediaSession, OpenOptions } from './media.ts'
import type { WorkerSetup } from './worker-setup.ts'
import { demandPorts, splitPorts } from './ports.ts'
import { chooseSection } from './sdp/far-end-section.ts'
import { parseSdp } from './sdp/sdp.ts'
import { Session } from './session.ts'
import { WorkerLink } from './worker-link.ts'
import { promptLimitMs, Wirings } from './wirings.ts'

function createThread(setup: WorkerSetup, name: string): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url), { workerData: setup, name })
}

interface Member {
  readonly link: WorkerLink
  readonly sessions: Map<string, Session>
  /** Asked for and not answered yet: counts, so that a rush of calls spreads. */
  opening: number
}

// A worker that is late in more than one tick of ten cannot take a call more. With few sessions it is the machine
// that is slow, and refusing calls would not help.
const maxLateShare = 0.1
const alwaysAdmitted = 50

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
  const members = splitPorts(options.ports, Math.max(1, options.workers)).map((ports, index): Member => {
    const sessions = new Map<string, Session>()
    const link = new WorkerLink({
      createWorker,
      setup: { bind, ports, limits, scratchDir: join(scratchDir, `worker-${index}`) },
      index,
      clock,
      log,
      onEvent: (id, event) => {
        if (event.type === 'digit') wirings.noteKey(id, event)
        // One in a room of another worker is said to talk by that one.
        ;(sessions.get(id) ?? sessionOf(id))?.emit(event)
      },
      onLost: () => {
        for (const session of sessions.values()) session.lose()
        wirings.lose(link)
      },
    })
    return { link, sessions, opening: 0 }
  })

  function sessionOf(id: string): Session | undefined {
    return members.map(({ sessions }) => sessions.get(id)).find((session) => session !== undefined)
  }

  let local: LocalAddress | undefined
  // Interfaces are looked at when the first call comes, not when the parts are put together.
  const localAddress = (): LocalAddress => (local ??= createLocalAddress({ bind, publicAddress, clock }))
  const sizeOf = ({ sessions, opening }: Member): number =>
    [...sessions.values()].reduce((sum, { weight }) => sum + weight, opening)

  function isAdmitting(member: Member): boolean {
    const { link } = member
    return link.isRunning && (sizeOf(member) < alwaysAdmitted || link.load.lateShare <= maxLateShare)
  }

  async function openOn(member: Member, { maySendTo, near }: OpenOptions): Promise<Session> {
    const id = createSid()
    member.opening += 1
    try {
      const { port } = await member.link.request<'open'>({ kind: 'open', session: id }, promptLimitMs)
      const onClosed = (): void => {
        member.sessions.delete(id)
        wirings.leave(id)
      }
      const local = localAddress()
      // Of one codec, packets between the two are passed on as they are.
      const prefers = near === undefined ? undefined : member.sessions.get(near)?.codec
      const { link } = member
      const session = new Session({ id, port, local, link, wirings, maySendTo, prefers, onClosed })
      member.sessions.set(id, session)
      wirings.enter(session)
      return session
    } catch (error) {
      // A worker that replies too late has opened a session that has no owner.
      member.link.request<'close'>({ kind: 'close', session: id }, promptLimitMs).catch(() => undefined)
      throw error
    } finally {
      member.opening -= 1
    }
  }

  async function open(openOptions: OpenOptions = {}): Promise<MediaSession> {
    const isNear = ({ sessions }: Member): boolean =>
      openOptions.near !== undefined && sessions.has(openOptions.near)
    const candidates = members
      .filter(isAdmitting)
      .map((member) => ({ member, size: sizeOf(member), distance: isNear(member) ? 0 : 1 }))
      .sort((a, b) => a.distance - b.distance || a.size - b.size)
    if (candidates.length === 0) throw new AppError('overloaded', 'the media workers are at their capacity')
    for (const { member } of candidates) {
      try {
        return await openOn(member, openOptions)
      } catch (error) {
        // Another worker has ports of its own.
        if (!(error instanceof AppError && error.code === 'no_media_port')) throw error
      }
    }
    throw new AppError('no_media_port', 'no RTP port is free')
  }

  return {
    name: 'media',
    async start() {
      await demandPorts(bind, options.ports, options.workers)
      try {
        await Promise.all(members.map(({ link }) => link.start()))
      } catch (error) {
        await Promise.all(members.map(({ link }) => link.stop()))
        throw error
      }
    },
    async stop() {
      await Promise.all(members.map(({ link }) => link.stop()))
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
