// The recording of one leg by a recording server. It begins, pauses, resumes and stops in the order of the requests.
import { AppError } from '../../lib/errors.ts'
import { randomHex } from '../../lib/ids.ts'
import { serializeUri } from '../../sip/message/uri.ts'
import { dialledIn } from '../defence/dialled-uri.ts'
import { toAppError, toProblem } from '../journal/refusals.ts'
import { tenantMedia } from '../leg/tenant-media.ts'
import { AttemptGate } from '../outbound/attempt-gate.ts'
import { guardedPlace } from '../outbound/to-sip-uri.ts'
import { parseTargetUri } from '../outbound/target-uri.ts'
import { reachableFor } from '../reachable-places.ts'
import { stopped } from '../session/stop.ts'
import { toMetadata, type RecordedCall } from './metadata.ts'
import { recordedCall, withOthers } from './recorded-call.ts'
import type { RecordedLeg } from './recorded-leg.ts'
import type { Recorder, SiprecOrder } from '../leg/recorder.ts'
import { RecordingMedia } from './recording-media.ts'
import { RecordingSession } from './recording-session.ts'
import type { OutboundNeeds } from '../outbound/needs.ts'

const recordingIdHeader = 'x-recording-id'
/** The time for messages that cross the end of a dialog, in ms. */
const lateMs = 5000

export type SiprecNeeds = Pick<
  OutboundNeeds,
  | 'sip'
  | 'media'
  | 'directory'
  | 'clock'
  | 'isAllowedAddress'
  | 'isAllowedHop'
  | 'isSipProxy'
  | 'reservesCarriers'
  | 'teams'
  | 'tap'
  | 'guard'
>

/** A requested recording, from `start` until it is over. */
interface Wanted {
  readonly order: SiprecOrder
  readonly controller: AbortController
  /** The servers that have not been tried. */
  readonly left: string[]
  call: RecordedCall | undefined
}

export class SiprecRecorder implements Recorder {
  readonly #leg: RecordedLeg
  readonly #needs: SiprecNeeds
  #turn: Promise<void> = Promise.resolve()
  #wanted: Wanted | undefined
  #session: RecordingSession | undefined
  /** Kept from one server to the next. */
  #isPaused = false
  #isUpdateDue = false

  constructor(leg: RecordedLeg, needs: SiprecNeeds) {
    this.#leg = leg
    this.#needs = needs
    leg.events.watch((event) => {
      if (event === 'bridged' || event === 'room') this.#followCompany()
    })
    leg.signal.addEventListener('abort', () => this.stop(), { once: true })
  }

  get isWanted(): boolean {
    return this.#wanted !== undefined
  }

  start(order: SiprecOrder): void {
    if (this.#wanted !== undefined)
      throw new AppError('call_state', 'the call is recorded already', { cure: 'Stop that recording first.' })
    if (this.#leg.hasEnded) return
    const controller = new AbortController()
    const wanted: Wanted = { order, controller, left: [...order.servers], call: undefined }
    this.#wanted = wanted
    this.#then(async () => {
      this.#isPaused = false
      await this.#answered(controller.signal)
      if (!controller.signal.aborted) await this.#start(wanted)
    })
  }

  stop(): void {
    const wanted = this.#wanted
    if (wanted === undefined) return
    this.#wanted = undefined
    wanted.controller.abort(stopped('replaced'))
    this.#then(async () => {
      const session = this.#session
      if (session === undefined) return
      this.#session = undefined
      const { hasEnded } = this.#leg
      await session.stop()
      this.#ended(hasEnded ? 'the call has ended' : 'it was stopped')
    })
  }

  pause(): void {
    this.#change(async (session) => {
      this.#isPaused = true
      await session.pause()
    }, 'siprec-paused')
  }

  resume(): void {
    this.#change(async (session) => {
      await session.resume()
      this.#isPaused = false
    }, 'siprec-resumed')
  }

  #change(
    change: (session: RecordingSession) => Promise<void>,
    type: 'siprec-paused' | 'siprec-resumed',
  ): void {
    this.#then(async () => {
      const session = this.#session
      if (session === undefined) return
      await change(session)
      // The server may have ended the session meanwhile.
      if (this.#session === session) this.#leg.journal.note({ type })
    })
  }

  #then(step: () => Promise<void>): void {
    this.#turn = this.#turn.then(step).catch((error: unknown) => {
      if (this.#leg.hasEnded) return
      this.#leg.journal.note(toProblem(toAppError(error, this.#leg.log)))
    })
  }

  #answered(signal: AbortSignal): Promise<void> {
    if (this.#leg.isAnswered || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const go = (): void => {
        unwatch()
        signal.removeEventListener('abort', go)
        resolve()
      }
      const unwatch = this.#leg.events.watch((event) => {
        if (event === 'answered') go()
      })
      signal.addEventListener('abort', go, { once: true })
    })
  }

  /** Starts with the first remaining server that accepts. */
  async #start(wanted: Wanted): Promise<void> {
    const failures: string[] = []
    let cure = ''
    for (let server = wanted.left.shift(); server !== undefined; server = wanted.left.shift()) {
      try {
        await this.#try(server, wanted)
        return
      } catch (error) {
        if (wanted.controller.signal.aborted) return
        const failure = toAppError(error, this.#leg.log)
        failures.push(`${server}: ${failure.message}`)
        cure = failure.cure
      }
    }
    this.#forget(wanted)
    throw new AppError('siprec_failed', `the call is not recorded: ${failures.join('; ')}`, { cure })
  }

  async #try(server: string, wanted: Wanted): Promise<void> {
    const { directory, sip, clock } = this.#needs
    const { recordingId, headers } = wanted.order
    const { journal } = this.#leg
    const { started } = journal.facts
    const given = parseTargetUri(server, 'siprecServerURL')
    const uri = serializeUri({ ...given, headers: new Map() })
    const account = await directory.account(started.account_sid)
    if (account === undefined) throw new AppError('not_found', 'the account is gone')
    if ((await directory.accountByRealm(given.host)) !== undefined)
      throw new AppError('loop_detected', 'it leads back into this platform')
    const remote = await guardedPlace(uri, account, this.#needs)
    // A carrier would read its user as the number to call.
    const gate = new AttemptGate({
      leg: this.#leg,
      order: { account },
      needs: this.#needs,
    })
    await gate.demandMayCall([remote, ...(remote.alternatives ?? [])], dialledIn(given))
    const tenant = { owner: account.account_sid, peers: new Set([remote.address]), onlyListens: true }
    const guarded = tenantMedia(this.#needs, tenant)
    const mayReach = reachableFor(undefined, account, this.#needs)
    const now = clock.now()
    const realm = account.sip_realm
    const call = wanted.call ?? recordedCall({ ...started, realm, recordingId, now })
    wanted.call = this.#asNow({ ...call, recordedSince: now }, realm ?? started.host)
    const callId = `${randomHex(16)}@siprec`
    const session: RecordingSession = new RecordingSession({
      sip: sip(),
      media: await RecordingMedia.open({ media: guarded, sound: this.#leg.media.sound }),
      clock,
      log: this.#leg.log,
      onLost: (because) => this.#lost(session, wanted, because),
      onOver: () => void clock.after(lateMs, () => this.#needs.tap.detach(callId, journal)),
    })
    // The repeated OPTIONS checks would fill the journal.
    this.#needs.tap.expect(callId, journal, { without: 'OPTIONS' })
    const invite = { uri, remote, callId, user: 'recorder', boundary: randomHex(16) }
    const metadata = toMetadata(wanted.call)
    // The recordingID of the request overrides a header of that name.
    const own = recordingId === undefined ? [] : [{ name: recordingIdHeader, value: recordingId }]
    const others =
      recordingId === undefined
        ? headers
        : headers.filter(({ name }) => name.toLowerCase() !== recordingIdHeader)
    const isPaused = this.#isPaused
    await session.start(
      { ...invite, metadata, isPaused, headers: [...others, ...own], mayReach },
      wanted.controller.signal,
    )
    this.#session = session
    journal.note({
      type: 'siprec-started',
      server: uri,
      sip_call_id: callId,
      ...(recordingId === undefined ? {} : { recording_id: recordingId }),
    })
  }

  /** Sends the participants again after a change. Changes that come while an update is in progress are sent as one. */
  #followCompany(): void {
    if (this.#isUpdateDue || this.#wanted === undefined) return
    this.#isUpdateDue = true
    this.#then(() => {
      this.#isUpdateDue = false
      return this.#update()
    })
  }

  #asNow(call: RecordedCall, domain: string): RecordedCall {
    const { journal, member } = this.#leg
    const now = this.#needs.clock.now()
    return withOthers(call, { events: journal.events, room: member?.others(), domain, now })
  }

  async #update(): Promise<void> {
    const [session, wanted] = [this.#session, this.#wanted]
    if (session === undefined || wanted?.call === undefined) return
    const { journal, log } = this.#leg
    const { directory } = this.#needs
    const { account_sid, host } = journal.facts.started
    const domain = (await directory.account(account_sid))?.sip_realm ?? host
    const call = this.#asNow(wanted.call, domain)
    if (call === wanted.call) return
    wanted.call = call
    try {
      await session.update(toMetadata(call), randomHex(16))
    } catch (error) {
      // The server continues to record, with outdated participants.
      const sentence = `the changed participants could not be sent: ${toAppError(error, log).message}`
      journal.note({ type: 'note', sentence })
    }
  }

  #lost(session: RecordingSession, wanted: Wanted, because: string): void {
    if (this.#session === session) this.#session = undefined
    if (this.#leg.hasEnded || wanted.controller.signal.aborted) return this.#forget(wanted)
    this.#ended(because)
    if (wanted.left.length > 0) return this.#then(() => this.#start(wanted))
    this.#forget(wanted)
    this.#leg.journal.note(toProblem(new AppError('siprec_failed', `the recording is over: ${because}`)))
  }

  #forget(wanted: Wanted): void {
    if (this.#wanted === wanted) this.#wanted = undefined
  }

  #ended(because: string): void {
    this.#leg.journal.note({ type: 'siprec-ended', because })
  }
}
