// docs/reference/audio-streams.md, from src/api/docs/stream-frames.ts.
import { streamText } from '../../src/api/docs/stream-frames.ts'
import { page } from './page.ts'

export function audioStreamsPage(): string {
  return page('Audio servers', '`src/api/docs/stream-frames.ts`', [streamText()])
}
