// Journals and payloads as JSON. A value that JSON cannot hold (nested too deeply, too long, circular) is left out
// alone: its call keeps its record, and other calls are not held up.
import type { StoredEvent } from '../../contracts/journal.ts'

export type OnFault = (event: StoredEvent, error: unknown) => void

export function encodeEvents(events: readonly StoredEvent[], onFault: OnFault): string {
  try {
    return JSON.stringify(events)
  } catch {
    return `[${events.map((event) => encodeEvent(event, onFault)).join(',')}]`
  }
}

function encodeEvent(event: StoredEvent, onFault: OnFault): string {
  try {
    return JSON.stringify(event)
  } catch (error) {
    onFault(event, error)
    const { seq, at, type } = event
    return JSON.stringify({ seq, at, type: 'note', sentence: `a fact "${type}" could not be written down` })
  }
}

export function encodePayload(payload: object): string {
  try {
    return JSON.stringify(payload)
  } catch {
    return JSON.stringify(
      Object.fromEntries(Object.entries(payload).filter(([, value]) => isEncodable(value))),
    )
  }
}

function isEncodable(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}
