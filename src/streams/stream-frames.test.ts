// The examples of the reference of audio servers are sent and accepted over a real socket.
import { afterEach, expect, it } from 'vitest'
import { serveAudio } from '../../test/support/audio-server.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import {
  heardStreamFrames as heard,
  sentStreamFrames as sent,
} from '../../scripts/reference/stream-frames.ts'
import type { StreamEvent } from '../contracts/audio-stream.ts'
import { AudioRing, createRing } from '../lib/audio/audio-ring.ts'
import { silentLogger } from '../lib/log.ts'
import { createStreams } from './create-streams.ts'

const cleanUps: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

it('each example is sent, or taken, as the reference has it', async () => {
  const platform = createStreams({ allow: ['127.0.0.0/8'], nameServers: undefined, log: silentLogger })
  const server = await serveAudio()
  cleanUps.push(
    () => server.close(),
    () => platform.stop(),
  )
  const [given, ring] = [createRing({ samples: 160, frames: 50 }), createRing({ samples: 160 })]
  const events = new Inbox<StreamEvent>()
  const stream = platform.open(
    {
      url: server.url,
      headers: {},
      hello: JSON.stringify(sent.hello.example),
      given,
      channels: 1,
      rate: 8000,
      says: { ring },
    },
    (event) => events.push(event),
  )
  const says = new AudioRing(ring.memory)
  const beat = setInterval(() => says.read(new Int16Array(160)), 5)
  cleanUps.push(() => clearInterval(beat))
  const { texts, closed, say } = await server.streams
    .next('the stream', () => true)
    .then((served) => ({
      texts: served.texts,
      closed: served.closed,
      say: (message: object) => served.say(message),
    }))
  // Messages from before the opening reach no server, and the server may have the socket sooner.
  await events.next('the socket', ({ type }) => type === 'opened')
  stream.send(JSON.stringify(sent.dtmf.example))
  say(heard.playAudio.example)
  say(heard.mark.example)
  await until('both reports', () => texts.items.length >= 4)
  expect(texts.items).toEqual(
    expect.arrayContaining([sent.hello.example, sent.dtmf.example, sent.playDone.example, sent.mark.example]),
  )
  say(heard.clearMarks.example)
  say(heard.killAudio.example)
  say(heard.disconnect.example)
  expect(await closed).toBe(1000)
  const end = await events.next('the end', ({ type }) => type === 'ended')
  expect(end).toMatchObject({ end: { by: 'disconnect' } })
  expect(events.items.map(({ type }) => type)).not.toContain('misunderstood')
})
