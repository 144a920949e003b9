// One conference: its reducer decides, and this class carries out the consequences: seats, events, the end.
import { AppError } from '../../lib/errors.ts'
import type { Timer, Clock } from '../../lib/clock.ts'
import { wayOf } from '../verb/hook-form.ts'
import { oneOfTwo } from '../leg/leg-story.ts'
import { toCommonPayload, toNodePayload, type NodeFacts } from '../journal/hook-payloads.ts'
import type { Leg } from '../leg/leg.ts'
import type { LegMember, LegPeer } from '../leg/leg-options.ts'
import {
  emptyConference,
  placeOf,
  stepConference,
  type ConferenceChange,
  type ConferenceInput,
  type ConferenceState,
  type Member,
} from './conference-state.ts'
import type { StatusEventName } from '../verb/conference-wishes.ts'
import type { Guest } from './guest.ts'
import { KeyDistribution } from './key-distribution.ts'
import { StatusReports } from './status-reports.ts'
import { Stay } from './stay.ts'

export interface ConferenceNeeds {
  readonly clock: Clock
  readonly node: () => NodeFacts
}

export interface ConferenceOptions {
  readonly account_sid: string
  readonly name: string
  /** The name of the room in media, different for each conference of the same name. */
  readonly mediaRoom: string
  readonly needs: ConferenceNeeds
  readonly onOver: () => void
}

/** A call that is in a conference, or waits for it. */
export interface Participant extends Omit<Member, 'id' | 'graceMs'> {
  readonly leg: Leg
}

/** The reason why all members are let go. */
const moderatorLeft = 'the conference has ended: its moderator has left'

export class Conference {
  readonly name: string
  readonly conference_sid: string
  readonly #options: ConferenceOptions
  readonly #stays = new Map<string, Stay>()
  readonly #keys: KeyDistribution
  #state: ConferenceState = emptyConference
  #reports: StatusReports | undefined
  #startedMs: number | undefined
  #grace: Timer | undefined
  /** The member that left last: its application sends the event `end`. */
  #last: Stay | undefined
  /**
   * The member whose recording has the conference in it: the first that wants it, and the next one when that one has
   * left.
   */
  #recorded: Stay | undefined
  /** The reason of the member that is leaving at the moment. */
  #because = ''

  constructor(options: ConferenceOptions) {
    this.#options = options
    this.name = options.name
    this.conference_sid = `conf:${options.account_sid}:${options.name}`
    this.#keys = new KeyDistribution(options.needs.clock, () => this.#stays.values())
  }

  get isRunning(): boolean {
    return this.#state.phase === 'running'
  }

  get participants(): readonly Participant[] {
    return this.#state.members.flatMap(({ id, ...member }) => {
      const leg = this.#stays.get(id)?.leg
      return leg === undefined ? [] : [{ ...member, leg }]
    })
  }

  /** Throws AppError conference_full. */
  enter(guest: Guest): Stay {
    const { leg, wishes } = guest
    const id = leg.call_sid
    if (this.#stays.has(id)) throw new AppError('call_state', 'the call is in this conference already')
    if (this.#stays.size === 0) this.#reports = this.#reportsFor(guest)
    const stay = new Stay({
      guest,
      clock: this.#options.needs.clock,
      mediaRoom: this.#options.mediaRoom,
      reportsTalk: this.#reports?.wantsTalk === true,
      fields: this.#fields,
    })
    this.#stays.set(id, stay)
    const [first] = this.#apply({ type: 'enter', entry: { id, ...wishes } })
    if (first?.type === 'turned-away') {
      this.#stays.delete(id)
      const { maxMembers } = first
      throw new AppError('conference_full', `the conference "${this.name}" has ${maxMembers} members already`)
    }
    stay.sitDown({
      kind: 'room',
      member: this.#faceOf(stay),
      end: (because) => this.leave(stay, because),
    })
    leg.events.tell('room')
    this.#keys.follow(stay)
    return stay
  }

  /** Lets a member leave. `because` is a phrase for the journal. Idempotent. */
  leave(stay: Stay, because: string): void {
    if (this.#stays.get(stay.leg.call_sid) !== stay) return
    this.#because = because
    this.#apply({ type: 'leave', id: stay.leg.call_sid })
  }

  #reportsFor({ application, wishes: { statusHook, statusEvents } }: Guest): StatusReports | undefined {
    if (statusHook === undefined) return undefined
    const { clock } = this.#options.needs
    // The address does not change with the applications of calls that enter later. Over sockets, each call has its own.
    const full = application.hookOf(statusHook)
    const hook = wayOf(full) === 'http' ? full : statusHook
    return new StatusReports({ hook, events: new Set(statusEvents), clock })
  }

  get #fields(): { readonly conference_sid: string; readonly friendly_name: string } {
    return { conference_sid: this.conference_sid, friendly_name: this.name }
  }

  #apply(input: ConferenceInput): readonly ConferenceChange[] {
    const { state, changes } = stepConference(this.#state, input)
    this.#state = state
    for (const change of changes) this.#follow(change)
    const sessionsOf = (ids: readonly string[]): readonly string[] =>
      ids.flatMap((id) => this.#stays.get(id)?.leg.media.sessionId ?? [])
    for (const { id } of state.members) this.#stays.get(id)?.follow(placeOf(state, id), sessionsOf)
    this.#record()
    if (changes.some(({ type }) => type === 'joined' || type === 'left')) this.#tellOfCompany()
    if (state.phase === 'over') this.#options.onOver()
    return changes
  }

  #tellOfCompany(): void {
    for (const { leg } of this.#stays.values()) leg.events.tell('room')
  }

  #record(): void {
    const recorded = this.#recorded
    if (recorded !== undefined && this.#stays.get(recorded.leg.call_sid) === recorded) return
    const next = this.isRunning
      ? [...this.#stays.values()].find(({ guest }) => guest.recording !== undefined)
      : undefined
    this.#recorded = next
    recorded?.guest.recording?.end()
    next?.guest.recording?.begin()
  }

  #follow(change: ConferenceChange): void {
    const { clock } = this.#options.needs
    switch (change.type) {
      case 'turned-away':
        return
      case 'waits':
        return this.#noteFor(change.id, (leg) => leg.journal.note({ type: 'room-waiting', room: this.name }))
      case 'started':
        this.#startedMs = clock.monotonic()
        return this.#report('start', change.by, change.members)
      case 'joined': {
        const { id, members } = change
        this.#noteFor(id, (leg) => leg.journal.note({ type: 'room-joined', room: this.name, members }))
        return this.#report('join', id, members)
      }
      case 'left':
        return this.#onLeft(change)
      case 'grace-began':
        this.#grace = clock.after(change.graceMs, () => void this.#apply({ type: 'grace-over' }))
        return
      case 'grace-stopped':
        this.#grace?.cancel()
        return
      case 'ended':
        return this.#report('end', '', 0, this.#last)
      default:
        return change satisfies never
    }
  }

  #onLeft({ id, members, wasWaiting, isLetGo }: ConferenceChange & { type: 'left' }): void {
    const stay = this.#stays.get(id)
    if (stay === undefined) return
    const because = isLetGo ? moderatorLeft : this.#because
    this.#stays.delete(id)
    this.#keys.forget(stay)
    this.#last = stay
    stay.getUp()
    stay.leg.events.tell('room')
    stay.leg.journal.note({ type: 'room-left', room: this.name, because })
    stay.close(because)
    if (!wasWaiting) this.#report('leave', id, members, stay)
  }

  #noteFor(id: string, note: (leg: Leg) => void): void {
    const leg = this.#stays.get(id)?.leg
    if (leg !== undefined) note(leg)
  }

  #report(event: StatusEventName, id: string, members: number, of = this.#stays.get(id)): void {
    if (of === undefined || this.#reports?.wants(event) !== true) return
    const { clock, node } = this.#options.needs
    const { leg } = of
    const { facts } = leg.journal
    const seconds = this.#startedMs === undefined ? 0 : (clock.monotonic() - this.#startedMs) / 1000
    const payload = {
      ...toCommonPayload(facts),
      ...toNodePayload(facts, node()),
      event,
      ...this.#fields,
      duration: Math.round(seconds * 1000) / 1000,
      time: new Date(clock.now()).toISOString(),
      members,
    }
    this.#reports.report({ event, by: this.#senderFor(of).guest, payload })
  }

  /**
   * Returns the member that sends the event. The socket of a call closes with it, so another member sends later events.
   */
  #senderFor(of: Stay): Stay {
    if (!of.leg.hasEnded || this.#reports?.isFull === true) return of
    return [...this.#stays.values()].find(({ leg }) => !leg.hasEnded) ?? of
  }

  /** Reports that a member begins or ends to talk. */
  talk(stay: Stay, isTalking: boolean): void {
    const { call_sid } = stay.leg
    if (this.#stays.get(call_sid) !== stay) return
    this.#report(isTalking ? 'start-talking' : 'stop-talking', call_sid, this.#state.members.length)
  }

  #othersThan(id: string): readonly LegPeer[] {
    return this.participants.flatMap(({ leg }) => (leg.call_sid === id ? [] : [oneOfTwo(leg)]))
  }

  #faceOf(stay: Stay): LegMember {
    const id = stay.leg.call_sid
    const apply = (input: ConferenceInput): void => void this.#apply(input)
    return {
      mute: (isMuted) => apply({ type: 'mute', id, isMuted }),
      muteOthers: (isMuted) => apply({ type: 'mute-others', isMuted }),
      hold: (isHeld, hook) => {
        if (isHeld) stay.holdHook = hook
        apply({ type: 'hold', id, isHeld })
      },
      tag: (tag) => apply({ type: 'tag', id, tag }),
      coach: (tag) => apply({ type: 'coach', id, tag }),
      kick: () => this.leave(stay, 'a client removed it'),
      others: () => (this.isRunning ? this.#othersThan(id) : undefined),
    }
  }
}
