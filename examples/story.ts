// `npm run story`: reads the journal of a call, as the API returns it, from standard input, and prints it as a story.
import { json } from 'node:stream/consumers'
import { journalStory } from './demo/journal-story.ts'
import type { StoryEvent } from './demo/journal-story.ts'

const usage =
  'npm run story reads the journal of a call: curl ... /RecentCalls/<call_sid>/journal | npm run -s story'

async function main(): Promise<void> {
  const events: unknown = await json(process.stdin).catch(() => undefined)
  if (!Array.isArray(events)) throw new Error(refusalOf(events) ?? usage)
  for (const line of journalStory(events as readonly StoryEvent[])) console.log(line)
}

/** Returns the error that the API sent instead of a journal. */
function refusalOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('msg' in answer)) return undefined
  const cure = 'cure' in answer ? ` ${String(answer.cure)}` : ''
  return `${String(answer.msg)}.${cure}`
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
})
