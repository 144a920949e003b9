// The recording of one leg by a recording server: begun, paused, resumed and stopped in the order in which that was asked for.
import { AppError } from '../../lib/errors.ts'
import { randomHex } from '../../lib/ids.ts'
import type { Logger } from '../../lib/log.ts'
import { escapeUser, parseUri, serializeUri } from '../../sip/message/uri.ts'
import type { CallServices } from '../call-services.ts'
import type { JournalWriter } from '../journal/journal-writer.ts'
import type { LegEvents } from '../leg/leg-events.ts'
import type { LegSound } from '../leg/leg-sound.ts'
import { toAppError, toProblem } from '../leg/refusals.ts'
import { tenantMedia } from '../leg/tenant-media.ts'
import { guardedPlace } from '../outbound/to-sip-uri.ts'
import { parseTargetUri } from '../outbound/target-uri.ts'
import type { AccountFacts } from '../ports.ts'
import { stopped } from '../session/stop.ts'
import { toMetadata } from './metadata.ts'
import type { RecordedCall } from './metadata.ts'
import type { Recorder, SiprecOrder } from './recorder.ts'
import { labels, RecordingMedia } from './recording-media.ts'
import { RecordingSession } from './recording-session.ts'

const recordingIdHeader = 'x-recording-id'

/** What it needs of the leg. */
export interface RecordedLeg {
  readonly journal: JournalWriter
  readonly log: Logger
  readonly media: { readonly sound: Pick<LegSound, 'join' | 'part'> }
  readonly events: Pick<LegEvents, 'watch'>
  readonly isAnswered: boolean
  readonly hasEnded: boolean
  readonly signal: AbortSignal
}

type Services = Pick<
  CallServices,
  'sip' | 'media' | 'directory' | 'clock' | 'isAllowedAddress' | 'isAllowedHop'
>

export class SiprecRecorder implements Recorder {
  readonly #leg: RecordedLeg
  readonly #services: Services
  #turn: Promise<void> = Promise.resolve()
  /** Set from the start that is asked for to the end of what came of it. */
  #wanted: AbortController | undefined
  #session: RecordingSession | undefined

  constructor(leg: RecordedLeg, services: Services) {
    this.#leg = leg
    this.#services = services
    leg.signal.addEventListener('abort', () => this.stop(), { once: true })
  }

  start(order: SiprecOrder): void {
    if (this.#wanted !== undefined)
      throw new AppError('call_state', 'the call is recorded already', { cure: 'Stop that recording first.' })
    if (this.#leg.hasEnded) return
    const wanted = new AbortController()
    this.#wanted = wanted
    this.#then(async () => {
      await this.#answered(wanted.signal)
      if (!wanted.signal.aborted) await this.#start(order, wanted)
    })
  }

  stop(): void {
    const wanted = this.#wanted
    if (wanted === undefined) return
    this.#wanted = undefined
    wanted.abort(stopped('replaced'))
    this.#then(async () => {
      const session = this.#session
      if (session === undefined) return
      this.#session = undefined
      const { hasEnded } = this.#leg
      await session.stop()
      this.#ended(hasEnded ? 'the call has ended' : 'it was to stop')
    })
  }

  pause(): void {
    this.#change((session) => session.pause(), 'siprec-paused')
  }

  resume(): void {
    this.#change((session) => session.resume(), 'siprec-resumed')
  }

  #change(
    change: (session: RecordingSession) => Promise<void>,
    type: 'siprec-paused' | 'siprec-resumed',
  ): void {
    this.#then(async () => {
      const session = this.#session
      if (session === undefined) return
      await change(session)
      // The server may have ended it meanwhile.
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

  async #start(order: SiprecOrder, wanted: AbortController): Promise<void> {
    const failures: string[] = []
    for (const server of order.servers) {
      try {
        await this.#try(server, order, wanted)
        return
      } catch (error) {
        if (wanted.signal.aborted) return
        failures.push(`${server}: ${toAppError(error, this.#leg.log).message}`)
      }
    }
    this.#forget(wanted)
    throw new AppError('siprec_failed', `the call is not recorded: ${failures.join('; ')}`)
  }

  async #try(server: string, { recordingId, headers }: SiprecOrder, wanted: AbortController): Promise<void> {
    const { directory, sip, media, isAllowedHop, clock } = this.#services
    const { started } = this.#leg.journal.facts
    const given = parseTargetUri(server, 'siprecServerURL')
    const uri = serializeUri({ ...given, headers: new Map() })
    const account = await directory.account(started.account_sid)
    if (account === undefined) throw new AppError('not_found', 'the account is gone')
    if ((await directory.accountByRealm(given.host)) !== undefined)
      throw new AppError('loop_detected', 'it leads back into this platform')
    const remote = await guardedPlace(uri, account, { ...this.#services })
    const guarded = tenantMedia({ media, isAllowedHop }, new Set([remote.address]))
    const session: RecordingSession = new RecordingSession({
      sip: sip(),
      media: await RecordingMedia.open({ media: guarded, sound: this.#leg.media.sound }),
      clock,
      log: this.#leg.log,
      onLost: (because) => this.#lost(session, wanted, because),
    })
    const call = recordedCall({ ...started, account, recordingId, startedAt: clock.now() })
    const invite = { uri, remote, headers, user: 'recorder', boundary: randomHex(16) }
    const metadata = toMetadata(call)
    // The one that is asked for by name wins over one among the headers.
    const own = recordingId === undefined ? [] : [{ name: recordingIdHeader, value: recordingId }]
    const others =
      recordingId === undefined
        ? headers
        : headers.filter(({ name }) => name.toLowerCase() !== recordingIdHeader)
    await session.start(
      { ...invite, metadata, headers: [...others, ...own], mayReach: isAllowedHop },
      wanted.signal,
    )
    this.#session = session
    this.#leg.journal.note({
      type: 'siprec-started',
      server: uri,
      sip_call_id: session.callId ?? '',
      ...(recordingId === undefined ? {} : { recording_id: recordingId }),
    })
  }

  #lost(session: RecordingSession, wanted: AbortController, because: string): void {
    if (this.#session === session) this.#session = undefined
    this.#forget(wanted)
    if (this.#leg.hasEnded) return
    this.#ended(because)
    this.#leg.journal.note(toProblem(new AppError('siprec_failed', `the recording is over: ${because}`)))
  }

  #forget(wanted: AbortController): void {
    if (this.#wanted === wanted) this.#wanted = undefined
  }

  #ended(because: string): void {
    this.#leg.journal.note({ type: 'siprec-ended', because })
  }
}

interface CallFacts {
  readonly account: Pick<AccountFacts, 'sip_realm'>
  readonly call_sid: string
  readonly direction: 'inbound' | 'outbound'
  readonly from: string
  readonly to: string
  readonly caller_name: string
  readonly host: string
  readonly recordingId: string | undefined
  readonly startedAt: number
}

function recordedCall({ account, direction, from, to, host, ...facts }: CallFacts): RecordedCall {
  const caller = { id: randomHex(16), aor: aorOf(from, account.sip_realm ?? host), name: facts.caller_name }
  const called = { id: randomHex(16), aor: aorOf(to, account.sip_realm ?? host), name: '' }
  const [party, other] = direction === 'inbound' ? [caller, called] : [called, caller]
  return {
    call_sid: facts.call_sid,
    recordingId: facts.recordingId,
    startedAt: facts.startedAt,
    sessionId: randomHex(16),
    groupId: randomHex(16),
    party,
    other,
    said: { id: randomHex(16), label: labels.in },
    heard: { id: randomHex(16), label: labels.out },
  }
}

/** What the call names may be a URI already. */
function aorOf(name: string, host: string): string {
  return /^(?:sip|tel):/i.test(name) ? serializeUri(parseUri(name)) : `sip:${escapeUser(name)}@${host}`
}
