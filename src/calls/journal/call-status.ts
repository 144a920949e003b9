// The states of a call as customers see them (spec "call_status values", calls.md §2.1).

export type CallStatus =
  | 'trying'
  | 'ringing'
  | 'early-media'
  | 'in-progress'
  | 'completed'
  | 'failed'
  | 'busy'
  | 'no-answer'
  | 'queued'

const finals: ReadonlySet<CallStatus> = new Set<CallStatus>(['completed', 'failed', 'busy', 'no-answer'])

export function isFinal(status: CallStatus): boolean {
  return finals.has(status)
}
