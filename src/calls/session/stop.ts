// The reason why something in a session is stopped, as the reason of every signal that aborts there.

/** The reasons by cause, in words for the journal. */
const causes = {
  'leg-ended': 'the call has ended',
  replaced: 'others took over',
  'answered-elsewhere': 'another one has taken the call',
  parted: 'the two have parted',
  'timed-out': 'the time for it is over',
  'barged-in': 'a key was pressed, or something was said',
  suspended: 'a question of a verb took its place',
  done: 'nothing of it is left to do',
} as const

export type StopCause = keyof typeof causes

export class Stop extends Error {
  // Code that waits for a request recognises an abort by this name.
  override readonly name = 'AbortError'
  override readonly cause: StopCause

  constructor(cause: StopCause, because: string = causes[cause]) {
    super(because)
    this.cause = cause
  }
}

const stops = Object.fromEntries(
  (Object.keys(causes) as StopCause[]).map((cause) => [cause, new Stop(cause)]),
) as Readonly<Record<StopCause, Stop>>

/** Returns a shared reason, as an abort without one creates an error with a stack trace. */
export function stopped(cause: StopCause): Stop {
  return stops[cause]
}

/** Returns the cause, or undefined if the signal has not aborted, or was aborted by something other than a session. */
export function causeOf({ reason }: AbortSignal): StopCause | undefined {
  return reason instanceof Stop ? reason.cause : undefined
}
