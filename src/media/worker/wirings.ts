// The wiring of sessions over all workers. Audio of another worker's sessions and rooms comes through rings of shared
// memory: a session that is needed in another worker has a mirror there.
import { createRing, type Ring } from '../../lib/audio/audio-ring.ts'
import { frameSamplesAt } from '../codecs/coders.ts'
import type { Layer, MirrorWiring, SpeaksIn, Wiring } from '../wiring.ts'
import type { MediaEvent } from '../media.ts'
import type { WorkerLink } from './worker-link.ts'

/** The wait for a request that a worker executes immediately. */
export const promptLimitMs = 3000

// Rings have room for both rates; a reader that uses the wide one sets a flag in the ring.
const maxFrameSamples = frameSamplesAt(16_000)

/** A session, as far as wiring needs it. */
export interface Wired {
  readonly id: string
  readonly link: WorkerLink
  sendKeys(digits: string, options: { readonly durationMs: number }): Promise<void>
}

interface Member {
  readonly session: Wired
  wiring: Wiring
  /** The mirrors that it needs: of other sessions in its own worker, and of itself in the worker of its room. */
  mirrors: readonly Mirror[]
}

interface Mirror {
  readonly of: string
  readonly at: WorkerLink
  readonly voice: Ring
  readonly hearers: Set<string>
  speaksIn: SpeaksIn | undefined
  listens: Ear | undefined
}

/** The ring through which a session hears a room of another worker. */
interface Ear {
  readonly room: string
  readonly at: WorkerLink
  readonly ring: Ring
}

interface Room {
  readonly at: WorkerLink
  readonly members: Set<string>
}

export class Wirings {
  readonly #members = new Map<string, Member>()
  readonly #rooms = new Map<string, Room>()
  readonly #mirrors = new Map<string, Mirror>()

  enter(session: Wired): void {
    this.#members.set(session.id, { session, wiring: { hears: [] }, mirrors: [] })
  }

  /** Removes a session that is closed, or whose worker is gone. */
  leave(id: string): void {
    const member = this.#members.get(id)
    if (member === undefined) return
    const stale = this.#arrange(member, { hears: [] })
    this.#members.delete(id)
    for (const mirror of this.#mirrors.values()) if (mirror.of === id) stale.add(mirror)
    void this.#tell(stale).catch(() => undefined)
  }

  /** Resolves when all workers concerned have applied it. */
  async wire(id: string, wiring: Wiring): Promise<void> {
    const member = this.#members.get(id)
    if (member === undefined) return
    const touched = this.#arrange(member, wiring)
    await Promise.all([this.#tell(touched), this.#wire(member)])
  }

  /** Moves the rooms of a worker that died to another one. Its own sessions have left already. */
  lose(link: WorkerLink): void {
    const lost = [...this.#rooms].filter(([, { at }]) => at === link).map(([name]) => name)
    for (const name of lost) this.#rooms.delete(name)
    const members = [...this.#members.values()].filter(({ wiring }) =>
      roomsOf(wiring).some((name) => lost.includes(name)),
    )
    for (const member of members) this.wire(member.session.id, member.wiring).catch(() => undefined)
  }

  /**
   * Presses a session's key again for listeners in other workers, since key events stay in the worker of their session.
   */
  noteKey(id: string, event: MediaEvent & { type: 'digit' }): void {
    for (const { of, hearers } of this.#mirrors.values()) {
      if (of !== id) continue
      for (const hearer of hearers)
        if (hearer !== id)
          this.#members
            .get(hearer)
            ?.session.sendKeys(event.digit, { durationMs: event.durationMs })
            .catch(() => undefined)
    }
  }

  /** Updates the rooms and mirrors, and returns the mirrors that have changed. */
  #arrange(member: Member, wiring: Wiring): Set<Mirror> {
    const { session } = member
    const former = member.mirrors
    // A session that stays in a room hears it through the same ring as before.
    const ears = former.flatMap(({ of, listens }) => (of === session.id && listens ? [listens] : []))
    for (const mirror of former) {
      mirror.hearers.delete(session.id)
      if (mirror.of === session.id) mirror.speaksIn = mirror.listens = undefined
    }
    this.#leaveRooms(member)
    member.wiring = wiring
    const heard = wiring.hears.flatMap(({ from }) => {
      const other = from.kind === 'session' ? this.#members.get(from.id) : undefined
      if (other === undefined || other.session.link === session.link) return []
      return [this.#mirrorOf(other.session.id, session.link, session.id)]
    })
    member.mirrors = [...heard, ...this.#enterRooms(member, ears)]
    return new Set([...former, ...member.mirrors])
  }

  #mirrorOf(of: string, at: WorkerLink, hearer: string): Mirror {
    const key = `${of}@${at.index}`
    const mirror = this.#mirrors.get(key) ?? {
      of,
      at,
      voice: createRing({ samples: maxFrameSamples }),
      hearers: new Set(),
      speaksIn: undefined,
      listens: undefined,
    }
    this.#mirrors.set(key, mirror)
    mirror.hearers.add(hearer)
    return mirror
  }

  #leaveRooms({ session, wiring }: Member): void {
    for (const name of roomsOf(wiring)) {
      const members = this.#rooms.get(name)?.members
      members?.delete(session.id)
      if (members?.size === 0) this.#rooms.delete(name)
    }
  }

  /** A room is in the worker of the first session that entered it. Sessions of other workers have a mirror there. */
  #enterRooms({ session, wiring }: Member, ears: readonly Ear[]): Mirror[] {
    return roomsOf(wiring).flatMap((name) => {
      const room = this.#rooms.get(name) ?? { at: session.link, members: new Set() }
      this.#rooms.set(name, room)
      room.members.add(session.id)
      if (room.at === session.link) return []
      const mirror = this.#mirrorOf(session.id, room.at, session.id)
      const isHeard = wiring.hears.some(({ from }) => from.kind === 'room' && from.id === name)
      if (name === wiring.speaksIn?.room) mirror.speaksIn = wiring.speaksIn
      if (isHeard)
        mirror.listens = ears.find((ear) => ear.room === name && ear.at === room.at) ?? {
          room: name,
          at: room.at,
          ring: createRing({ samples: maxFrameSamples }),
        }
      return [mirror]
    })
  }

  /** Removes mirrors that are no longer needed. Their sessions are wired again too, since they write the rings. */
  async #tell(mirrors: ReadonlySet<Mirror>): Promise<void> {
    const origins = new Set<string>()
    const told = [...mirrors].map(async (mirror) => {
      const { of, at, voice, speaksIn, listens } = mirror
      const isNeeded = mirror.hearers.size > 0 && this.#members.has(of)
      if (!isNeeded) this.#mirrors.delete(`${of}@${at.index}`)
      origins.add(of)
      const wiring: MirrorWiring | undefined = isNeeded
        ? {
            voice,
            ...(speaksIn === undefined ? {} : { speaksIn }),
            ...(listens === undefined ? {} : { listens: { room: listens.room, ring: listens.ring } }),
          }
        : undefined
      // A worker that is gone needs no request.
      await at
        .request<'mirror'>({ kind: 'mirror', session: of, wiring }, promptLimitMs)
        .catch(() => undefined)
    })
    const wired = [...origins].map(async (id) => {
      const member = this.#members.get(id)
      // Nor does a session that is being closed.
      if (member !== undefined) await this.#wire(member).catch(() => undefined)
    })
    await Promise.all([...told, ...wired])
  }

  async #wire({ session, wiring, mirrors }: Member): Promise<void> {
    const hears = wiring.hears.map((layer): Layer => {
      const { from } = layer
      const elsewhere =
        from.kind === 'room' ? mirrors.find(({ listens }) => listens?.room === from.id)?.listens : undefined
      return elsewhere === undefined ? layer : { ...layer, from: { kind: 'ring', ring: elsewhere.ring } }
    })
    const voices = [...this.#mirrors.values()].filter(({ of }) => of === session.id).map(({ voice }) => voice)
    const request = { kind: 'wire', session: session.id, wiring: { ...wiring, hears, voices } } as const
    await session.link.request<'wire'>(request, promptLimitMs)
  }
}

function roomsOf({ speaksIn, hears }: Wiring): string[] {
  const heard = hears.flatMap(({ from }) => (from.kind === 'room' ? [from.id] : []))
  return [...new Set(speaksIn === undefined ? heard : [...heard, speaksIn.room])]
}
