// `npm run story`: prints the journal of a call as a story. The journal comes from a running platform, by the call's id,
// or from standard input as the API returns it.
import { json } from 'node:stream/consumers'
import { journalStory, type StoryEvent } from './demo/journal-story.ts'
import { createClient, journalOfCall } from './demo/provision-demo.ts'
import { readArguments } from './run/arguments.ts'

const help = `npm run story -- <call_sid>      the story of a call of the running platform
curl ... /RecentCalls/<call_sid>/journal | npm run -s story      that of a journal that the API has returned

  --api-key <key>     the admin API key of the platform, or that of the account, or SWITCHHOOK_ADMIN_API_KEY
  --base-url <url>    the address of the platform (http://127.0.0.1:3000, or as SWITCHHOOK_HTTP_PORT says)`

const { values, positionals } = readArguments(
  {
    allowPositionals: true,
    options: {
      'api-key': { type: 'string', default: process.env['SWITCHHOOK_ADMIN_API_KEY'] ?? '' },
      'base-url': {
        type: 'string',
        default: `http://127.0.0.1:${process.env['SWITCHHOOK_HTTP_PORT'] ?? '3000'}`,
      },
      help: { type: 'boolean', default: false },
    },
  },
  help,
)

async function main(): Promise<void> {
  if (values.help) return console.log(help)
  const [call_sid] = positionals
  const events = call_sid === undefined ? await fromInput() : await fromPlatform(call_sid)
  for (const line of journalStory(events)) console.log(line)
}

async function fromPlatform(call_sid: string): Promise<readonly StoryEvent[]> {
  const apiKey = values['api-key']
  if (apiKey === '')
    throw new Error(
      'The story of a call needs a key: npm run story -- <call_sid> --api-key <key of the account>, or SWITCHHOOK_ADMIN_API_KEY',
    )
  const events = await journalOfCall(createClient({ baseUrl: values['base-url'], apiKey }), call_sid)
  if (events === undefined)
    throw new Error(
      `No account that this key may read has a record of the call ${call_sid}. A call has one when it is over.`,
    )
  return events as readonly StoryEvent[]
}

async function fromInput(): Promise<readonly StoryEvent[]> {
  if (process.stdin.isTTY) throw new Error(help)
  const events: unknown = await json(process.stdin).catch(() => undefined)
  if (!Array.isArray(events)) throw new Error(refusalOf(events) ?? help)
  return events as readonly StoryEvent[]
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
