// The reports that a server gets about its own audio.
import type { PlayoutEvent } from './playout.ts'

export function toReport(event: PlayoutEvent): string {
  if (event.type === 'mark')
    return JSON.stringify({ type: 'mark', data: { name: event.name, event: event.event } })
  const { id, ms } = event
  const data = {
    ...(id === undefined ? {} : { id }),
    playbackSeconds: Math.floor(ms / 1000),
    playbackMilliseconds: ms,
  }
  return JSON.stringify({ type: 'playDone', data })
}
