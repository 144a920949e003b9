// The door for what is kept of calls: their facts, and the messages among them.
export type { FactName, JournalEvent } from './journal/journal.ts'
export { callStatuses } from './journal/call-status.ts'
export { readRemote } from './journal/sip-text.ts'
export type { SentFrame } from './channel/frames.ts'
