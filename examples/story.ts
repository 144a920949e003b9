// `npm run story`: the journal of a call, as the API returns it, from the standard input, printed as a short story.
import { json } from 'node:stream/consumers'
import { journalStory } from './demo/journal-story.ts'
import type { StoryEvent } from './demo/journal-story.ts'

const usage =
  'npm run story reads the journal of a call: curl ... /RecentCalls/<call_sid>/journal | npm run -s story'

async function main(): Promise<void> {
  const events: unknown = await json(process.stdin).catch(() => undefined)
  if (!Array.isArray(events)) throw new Error(usage)
  for (const line of journalStory(events as readonly StoryEvent[])) console.log(line)
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
})
