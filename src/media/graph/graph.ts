// The graph of one worker: its sessions, mirrors of sessions of other workers, rooms, and the listeners of each
// session.
import type { Clips } from '../clips/clips.ts'
import type { Coders } from '../codecs/coders.ts'
import type { Laws } from '../codecs/g711.ts'
import type { RtpPacket } from '../rtp/packet.ts'
import type { Passed, Relayable } from './relay.ts'
import type { Frame, Speaker } from '../frames/frame.ts'
import type { Surroundings } from './layers.ts'
import { Mirror } from './mirror.ts'
import { Room, type OnTalk } from './room.ts'
import type { MirrorWiring, SpeaksIn, WorkerWiring } from '../wiring.ts'

/** A session of this worker. */
export interface Member extends Speaker, Relayable {
  pass(session: string, packet: RtpPacket, passed: Passed): void
  /** Sets the sessions that hear it and get its packets. */
  heardBy(hearers: readonly Member[]): void
}

export interface GraphOptions extends Pick<Surroundings, 'clips' | 'laws'> {
  readonly coders: Coders
  /** Called when a speaker in a room begins or stops talking. */
  readonly onTalk?: OnTalk
}

export class Graph implements Surroundings {
  readonly clips: Clips
  readonly laws: Laws
  readonly #coders: Coders
  readonly #onTalk: OnTalk | undefined
  readonly #members = new Map<string, Member>()
  readonly #mirrors = new Map<string, Mirror>()
  readonly #rooms = new Map<string, Room>()
  /** The listeners by the session that they hear. */
  readonly #hearers = new Map<string, Set<Member>>()

  constructor({ clips, laws, coders, onTalk }: GraphOptions) {
    this.clips = clips
    this.laws = laws
    this.#coders = coders
    this.#onTalk = onTalk
  }

  /** Whether there are no sessions, mirrors, rooms, or listeners that wait for another session. */
  get isEmpty(): boolean {
    return this.#members.size + this.#mirrors.size + this.#rooms.size + this.#hearers.size === 0
  }

  add(member: Member): void {
    this.#members.set(member.id, member)
    member.heardBy([...(this.#hearers.get(member.id) ?? [])])
  }

  remove(id: string): void {
    this.#members.delete(id)
  }

  speaker(id: string): Speaker | undefined {
    return this.#members.get(id) ?? this.#mirrors.get(id)
  }

  relayable(id: string): Relayable | undefined {
    return this.#members.get(id)
  }

  roomFrame(room: string, listener: string, tick: number, nowMs: number): Frame | undefined {
    return this.#rooms.get(room)?.frame(listener, tick, nowMs)
  }

  /** Sets a session of another worker; with undefined it is no longer needed here. */
  mirror(id: string, wiring: MirrorWiring | undefined): void {
    const before = this.#mirrors.get(id)
    if (wiring === undefined) this.#mirrors.delete(id)
    else this.#mirrors.set(id, new Mirror(id, wiring, before))
    this.#seat(id, before?.wiring.speaksIn, wiring?.speaksIn)
  }

  /** Writes what sessions of other workers hear of the rooms here. Runs after the sessions of this worker. */
  tick(tick: number, nowMs: number): void {
    for (const mirror of this.#mirrors.values())
      mirror.tick((room) => this.roomFrame(room, mirror.id, tick, nowMs))
  }

  /**
   * Updates the room that a session speaks in and the sessions whose packets it gets, which are those that it hears.
   */
  rewire(member: Member, before: WorkerWiring, after: WorkerWiring): void {
    this.#seat(member.id, before.speaksIn, after.speaksIn)
    for (const id of heardBy(before)) {
      const hearers = this.#hearers.get(id)
      hearers?.delete(member)
      if (hearers?.size === 0) this.#hearers.delete(id)
      this.#tell(id)
    }
    for (const id of heardBy(after)) {
      const hearers = this.#hearers.get(id) ?? new Set()
      this.#hearers.set(id, hearers.add(member))
      this.#tell(id)
    }
  }

  /** The listeners are pushed to the session, since a look-up would be needed for each packet. */
  #tell(id: string): void {
    this.#members.get(id)?.heardBy([...(this.#hearers.get(id) ?? [])])
  }

  #seat(id: string, before: SpeaksIn | undefined, after: SpeaksIn | undefined): void {
    if (before !== undefined && before.room !== after?.room) {
      const room = this.#rooms.get(before.room)
      room?.leave(id)
      if (room?.isEmpty === true) this.#rooms.delete(before.room)
    }
    if (after === undefined) return
    const room = this.#rooms.get(after.room) ?? this.#createRoom()
    this.#rooms.set(after.room, room)
    room.enter(id, after)
  }

  #createRoom(): Room {
    return new Room(this.#coders, (speaker) => this.speaker(speaker), this.#onTalk)
  }
}

function heardBy({ hears }: WorkerWiring): readonly string[] {
  return hears.flatMap(({ from }) => (from.kind === 'session' ? [from.id] : []))
}
