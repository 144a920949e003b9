// The only writer of a call's journal. It numbers the events, keeps the derived facts, and passes both to storage.
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { LeftDialog } from '../../sip/sip.ts'
import { logFact } from './call-log.ts'
import { withoutDigits } from './hidden-digits.ts'
import type {
  CallBatch,
  CallStore,
  EssentialFact,
  JournalEvent,
  JournalFact,
  StartedFact,
} from './journal.ts'
import type { Notification } from '../../contracts/call-record.ts'
import type { RecordingChange } from '../../contracts/recording.ts'
import { factsOf, reduce, toRecentCall, type CallFacts } from './projection.ts'

/** The bounds of a journal. A day-long call with a chatty phone stays below both; a flood does not. */
const maxEvents = 4000
const maxBytes = 1_048_576
/** The part of both that words may fill. A transcript of hours leaves room for the rest of the call. */
const partOfWords = 0.75
/** The size of an event without its longest part. An estimate is enough for a bound. */
const eventBytes = 120

/** Returns the size of an event. Applications write some of its texts, such as the ids of verbs, in any length. */
function weightOf(fact: JournalFact): number {
  if (fact.type === 'sip') return eventBytes + fact.raw.length
  return Math.max(eventBytes, JSON.stringify(fact).length)
}

export interface CommitOptions {
  readonly notifications?: readonly Notification[]
  /** The changes of the recording of the leg. */
  readonly recordings?: readonly RecordingChange[]
  /** Set for the last commit, which includes the record of the leg. The record is written only once. */
  readonly isLast?: boolean
}

export interface JournalWriterOptions {
  readonly store: CallStore
  readonly clock: Clock
  /** The log of the call. Each fact is also logged there, at level debug. */
  readonly log?: Logger
  /** Whether the keys of the call are hidden until `hideDigits` says otherwise. */
  readonly hidesDigits: boolean
}

export class JournalWriter {
  readonly #store: CallStore
  readonly #clock: Clock
  readonly #log: Logger | undefined
  readonly #hidesDigitsAtFirst: boolean
  #hidesDigits: boolean
  #events: JournalEvent[] = []
  #facts: CallFacts
  #bytes = 0
  /** The number of events so far. */
  #count = 0
  /** The number of events that storage has received. */
  #written = 0
  #isScheduled = false
  #isTruncated = false
  #words = 0
  #wordBytes = 0
  #areWordsTruncated = false
  #isClosed = false
  #dialog: string | undefined

  constructor(started: StartedFact, { store, clock, log, hidesDigits }: JournalWriterOptions) {
    this.#store = store
    this.#clock = clock
    this.#log = log
    this.#hidesDigitsAtFirst = hidesDigits
    this.#hidesDigits = hidesDigits
    this.#facts = factsOf(started)
    this.#append(started)
  }

  get facts(): CallFacts {
    return this.#facts
  }

  /** All events while the call is live. Afterwards only those that storage has not received yet. */
  get events(): readonly JournalEvent[] {
    return this.#events
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The reason why nothing of the call can be kept now. */
  get unkept(): AppError | undefined {
    return this.#store.refusal()
  }

  /** Sets whether keys are kept as x from now on. Without an argument the initial setting applies again. */
  hideDigits(isHidden: boolean = this.#hidesDigitsAtFirst): void {
    this.#hidesDigits = isHidden
  }

  get #hasRoomForWords(): boolean {
    return this.#words < maxEvents * partOfWords && this.#wordBytes < maxBytes * partOfWords
  }

  /** Adds an event on which no derived facts depend. It is left out once the journal is full. */
  note(fact: JournalFact): void {
    if (this.#isTruncated) return
    if (this.#count >= maxEvents || this.#bytes >= maxBytes) {
      this.#isTruncated = true
      this.#append({ type: 'truncated' })
    } else if (fact.type === 'heard' && !this.#hasRoomForWords) {
      if (this.#areWordsTruncated) return
      this.#areWordsTruncated = true
      this.#append({ type: 'truncated', of: 'words' })
    } else {
      this.#append(fact)
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#flush('soon', {})
    })
  }

  /** Adds an event on which derived facts depend. The next `commit` passes it to storage. */
  add(fact: EssentialFact): CallFacts {
    this.#append(fact)
    return this.#facts
  }

  /** Has the dialog of the leg stored with the next events, so that another node can hang up. */
  keepDialog(dialog: LeftDialog): void {
    this.#dialog = JSON.stringify(dialog)
  }

  /** Passes all events so far to storage, with the changes that must be durable in the same transaction. */
  commit(options: CommitOptions = {}): void {
    this.#flush('now', options)
  }

  #append(fact: JournalFact): void {
    const kept = this.#hidesDigits ? withoutDigits(fact) : fact
    const event: JournalEvent = { seq: this.#count + 1, at: this.#clock.now(), ...kept }
    this.#facts = reduce(this.#facts, event)
    // This is the only essential fact that an application can repeat without end.
    if (fact.type === 'tagged' && this.#isTruncated) return
    this.#events.push(event)
    this.#count++
    const bytes = weightOf(fact)
    this.#bytes += bytes
    if (fact.type === 'heard') {
      this.#words += 1
      this.#wordBytes += bytes
    }
    logFact(this.#log, fact)
  }

  #flush(
    urgency: 'now' | 'soon',
    { notifications = [], recordings = [], isLast = false }: CommitOptions,
  ): void {
    const closes = isLast && !this.#isClosed
    const changes = notifications.length + recordings.length
    if (this.#written === this.#count && changes === 0 && !closes) return
    const { started } = this.#facts
    const events = this.#events.slice(this.#events.length - (this.#count - this.#written))
    this.#written = this.#count
    if (closes) this.#isClosed = true
    // Hundreds of ended calls stay in memory, and a journal has up to 1 MB.
    if (this.#isClosed) this.#events = []
    const dialog = this.#dialog
    this.#dialog = undefined
    this.#store.write(
      {
        call_sid: started.call_sid,
        account_sid: started.account_sid,
        events,
        notifications,
        ...(recordings.length === 0 ? {} : { recordings }),
        ...(dialog === undefined ? {} : { dialog }),
        ...(closes ? toClosing(this.#facts) : {}),
      },
      urgency,
    )
  }
}

function toClosing(facts: CallFacts): Pick<CallBatch, 'record' | 'ended'> {
  return facts.started.is_record_disabled ? { ended: true } : { record: toRecentCall(facts) }
}
