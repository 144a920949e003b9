// The stay of one leg in a conference: the audio it gets in each state, and the members that hear it.
import type { Clock } from '../../lib/clock.ts'
import type { HookForm } from '../verb/hook-form.ts'
import { createLoopPace, loopHook } from '../application/hook-loop.ts'
import type { PreparedRun } from '../application/nested-verbs.ts'
import type { RoomFact } from '../journal/room-facts.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'
import type { Seat } from '../leg/leg-sound.ts'
import { stopped } from '../session/stop.ts'
import type { Place } from './conference-state.ts'
import type { Guest } from './guest.ts'
import type { Held } from '../leg/occupation.ts'

export interface StayOptions {
  readonly guest: Guest
  readonly clock: Clock
  /** The name of the room in media. */
  readonly mediaRoom: string
  /** True if media report when the member talks. */
  readonly reportsTalk: boolean
  /** Sent to its hooks in addition to the facts of the leg. */
  readonly fields: object
}

/** The audio that plays instead of the conference, or before it. */
interface Sounding {
  readonly kind: 'wait' | 'enter'
  readonly hook: HookForm
  readonly controller: AbortController
}

/** The verbs that its hooks may answer. */
const waiting: ReadonlySet<string> = new Set(['say', 'play', 'pause'])

export class Stay {
  readonly leg: Leg
  readonly guest: Guest
  /** Resolves when the leg has left, with the reason for the journal. */
  readonly gone: Promise<string>
  readonly #options: StayOptions
  readonly #leaving = Promise.withResolvers<string>()
  readonly #pace
  #place: Place = { at: 'waiting' }
  #seat = ''
  #sounding: Sounding | undefined
  #holdHook: HookForm | undefined
  #held: Held | undefined
  #hasEntered = false
  #hasKeyProblem = false

  constructor(options: StayOptions) {
    this.#options = options
    this.guest = options.guest
    this.leg = options.guest.leg
    this.gone = this.#leaving.promise
    this.#pace = createLoopPace(options.clock)
  }

  /** From now on the leg is in the conference, or waits for it. */
  sitDown(held: Held): void {
    this.#held = held
    this.leg.occupy(held)
  }

  getUp(): void {
    if (this.#held !== undefined) this.leg.vacate(this.#held)
  }

  /** Sets the hook that plays while the leg is held, from the next hold on. */
  set holdHook(hook: HookForm | undefined) {
    this.#holdHook = hook
  }

  /** Applies a place. `sessionsOf` returns the media of members. */
  follow(place: Place, sessionsOf: (ids: readonly string[]) => readonly string[]): void {
    this.#noteChanges(this.#place, place)
    this.#place = place
    this.#sit(place.at === 'waiting' ? undefined : this.#seatAt(place, sessionsOf))
    this.#sound()
  }

  /** Sends a key that another member has pressed. */
  press(digit: string, durationMs: number): void {
    if (this.#place.at !== 'room' || this.#place.isHeld) return
    this.leg.keys.press(digit, durationMs).catch((error: unknown) => {
      // Many far ends accept no keys, so the problem is noted only once.
      if (!this.#hasKeyProblem) noteProblem(this.leg, error)
      this.#hasKeyProblem = true
    })
  }

  close(because: string): void {
    this.#stopSound()
    this.#sit(undefined)
    this.#leaving.resolve(because)
  }

  #seatAt(
    { isHeld, isMuted, onlyTo }: Place & { at: 'room' },
    sessionsOf: (ids: readonly string[]) => readonly string[],
  ): Seat {
    const { mediaRoom, reportsTalk, guest } = this.#options
    const speaksIn = {
      room: mediaRoom,
      reportsTalk,
      beeps: guest.wishes.beeps,
      ...(onlyTo === undefined ? {} : { onlyTo: sessionsOf(onlyTo) }),
    }
    return { speaksIn, isDeaf: isHeld, isMuted }
  }

  /** Sets the seat in media if it differs from the last one, as members come and go around those who stay. */
  #sit(seat: Seat | undefined): void {
    const text = seat === undefined ? '' : JSON.stringify(seat)
    if (text === this.#seat) return
    this.#seat = text
    this.leg.media.sound.sit(seat).catch((error: unknown) => noteProblem(this.leg, error))
  }

  #sound(): void {
    const { waitHook, enterHook } = this.#options.guest.wishes
    const place = this.#place
    if (place.at === 'waiting') return this.#begin('wait', waitHook)
    if (place.isHeld) return this.#begin('wait', this.#holdHook)
    if (this.#sounding?.kind === 'wait') this.#stopSound()
    if (this.#hasEntered) return
    this.#hasEntered = true
    this.#begin('enter', enterHook)
  }

  #begin(kind: Sounding['kind'], hook: HookForm | undefined): void {
    if (this.#sounding?.kind === kind && this.#sounding.hook === hook) return
    this.#stopSound()
    if (hook === undefined) return
    const controller = new AbortController()
    this.#sounding = { kind, hook, controller }
    const signal = AbortSignal.any([this.leg.signal, controller.signal])
    this.#play(kind, hook, signal).catch((error: unknown) => {
      if (!signal.aborted) noteProblem(this.leg, error)
    })
  }

  async #play(kind: Sounding['kind'], hook: HookForm, signal: AbortSignal): Promise<void> {
    const { fields, guest, clock } = this.#options
    const { leg, nested } = guest
    const question: Omit<PreparedRun, 'signal'> = { leg, hook, kind, fields, allowed: waiting }
    if (kind === 'wait') return await loopHook(() => question, { nested, clock, signal, pace: this.#pace })
    const run = await nested.prepare({ ...question, signal })
    if (!signal.aborted) await run?.()
  }

  #stopSound(): void {
    this.#sounding?.controller.abort(stopped('done'))
    this.#sounding = undefined
  }

  #noteChanges(before: Place, after: Place): void {
    if (after.at === 'waiting') return
    const was = before.at === 'waiting' ? { isHeld: false, isMuted: false } : before
    if (after.isHeld !== was.isHeld) return this.#note(after.isHeld ? 'room-held' : 'room-resumed')
    if (after.isMuted !== was.isMuted) this.#note(after.isMuted ? 'room-muted' : 'room-unmuted')
  }

  #note(type: (RoomFact & { members?: never; because?: never })['type']): void {
    this.leg.journal.note({ type, room: this.guest.wishes.name } as RoomFact)
  }
}
