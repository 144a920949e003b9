// The application of the benchmark of commands: it dials, whispers, and notes when a redirect hook is asked.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tone, toWav } from '../test/support/audio.ts'
import { Inbox } from '../test/support/wait.ts'

export interface Application {
  readonly origin: string
  /** The redirect hooks that were asked, with their paths and times. */
  readonly asked: Inbox<{ readonly path: string; readonly atMs: number }>
  close(): void
}

export async function startApplication(verbs: readonly object[]): Promise<Application> {
  const asked: Application['asked'] = new Inbox()
  const wav = toWav(tone(1000, 20))
  const server = http.createServer((request, response) => {
    const path = request.url ?? ''
    if (path.startsWith('/redirected')) asked.push({ path, atMs: performance.now() })
    request.resume()
    request.on('end', () => {
      if (path === '/whisper.wav') return response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav)
      if (path === '/status') return response.writeHead(200).end()
      const answer = path === '/call' ? verbs : [{ verb: 'pause', length: 3600 }]
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
