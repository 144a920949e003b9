// The states of a call that customers see as `call_status`.

export const callStatuses = [
  'trying',
  'ringing',
  'early-media',
  'in-progress',
  'completed',
  'failed',
  'busy',
  'no-answer',
  'queued',
] as const

export type CallStatus = (typeof callStatuses)[number]

const finals: ReadonlySet<CallStatus> = new Set<CallStatus>(['completed', 'failed', 'busy', 'no-answer'])

export function isFinal(status: CallStatus): boolean {
  return finals.has(status)
}
