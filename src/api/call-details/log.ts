// A call's journal as lines of text.
import type { Event } from './journal.ts'

/** Returns `2026-11-21T10:00:00.000Z verb-ended {"verb":"say","outcome":"done","duration_ms":1200}`. */
export function toLog(events: readonly Event[]): string[] {
  return events.map(({ at, type, ...rest }) => {
    const facts = Object.entries(rest).filter(([name]) => name !== 'seq' && name !== 'raw')
    return `${new Date(at).toISOString()} ${type} ${JSON.stringify(Object.fromEntries(facts))}`
  })
}
