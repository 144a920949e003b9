// The entry of the thread of streams: connects its host to the port of the main thread.
import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createNames } from '../network/create-names.ts'
import { createGrpc } from '../outgoing/create-grpc.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { createSockets } from '../outgoing/create-sockets.ts'
import type { ThreadSetup, ToThread } from './messages.ts'
import { StreamHost } from './stream-host.ts'

if (parentPort === null) throw new Error('thread.ts runs in a worker thread only')
const port = parentPort
// Both ends of this port run the same version of this code, so the types of messages.ts need no check.
const { allow, nameServers, limits } = workerData as ThreadSetup
const clock = systemClock
const resolve = createNames({ servers: nameServers, clock }).lookup
const sockets = createSockets({ allow, resolve, clock })
const grpc = createGrpc({ allow, resolve, clock })
// Its failures are reported as events of recognisers, so that no log is needed here.
const outgoing = createOutgoing({ allow, resolve, clock, log: silentLogger })
const host = new StreamHost({ sockets, grpc, outgoing, post: (message) => port.postMessage(message), limits })
port.on('message', (message: ToThread) => {
  host.accept(message)
  if (message.kind === 'stop') port.close()
})
