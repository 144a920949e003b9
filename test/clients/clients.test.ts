// Small applications written with the public client libraries of this API, unmodified, each called by real phones.
import { afterAll, beforeAll } from 'vitest'
import { audioStreams } from './audio-streams.ts'
import { changingTransports } from './changing-transports.ts'
import { restClients } from './rest.ts'
import { roomsAndQueues } from './rooms-and-queues.ts'
import { Stage } from './stage.ts'
import { webSocketApplications } from './web-sockets.ts'
import { webhookApplications } from './webhooks.ts'

let stage: Stage

beforeAll(async () => {
  stage = await Stage.start()
})
afterAll(() => stage?.close())

restClients(() => stage)
webhookApplications(() => stage)
webSocketApplications(() => stage)
roomsAndQueues(() => stage)
audioStreams(() => stage)
changingTransports(() => stage)
