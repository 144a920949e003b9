// Journals and payloads as JSON. What JSON cannot hold (nested too deeply, too long, circular) is left out by itself: it
// costs neither its call the record nor other calls their turn.
import type { JournalEvent } from './call-batch.ts'

export type OnFault = (event: JournalEvent, error: unknown) => void

export function encodeEvents(events: readonly JournalEvent[], onFault: OnFault): string {
  try {
    return JSON.stringify(events)
  } catch {
    return `[${events.map((event) => encodeEvent(event, onFault)).join(',')}]`
  }
}

function encodeEvent(event: JournalEvent, onFault: OnFault): string {
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
