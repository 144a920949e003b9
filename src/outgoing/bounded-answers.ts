// The answers on one connection of the HTTP library: what the library reads is counted before it parses it, and its time
// is charged to the tenant that asked.
import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock.ts'
import { AnswerMeter } from './answer-meter.ts'
import { EndlessAnswer } from './errors.ts'
import { InterimAnswers, maxInterim } from './interim-answers.ts'
import { watchRequests, type Connection } from './sent-requests.ts'

/** Bounds each answer on the connection, which is cut when one is too long. */
export function boundAnswers(socket: Socket, clock: Clock): void {
  const meter = new AnswerMeter(clock)
  const interim = new InterimAnswers()
  const connection: Connection = {
    meter,
    begin() {
      interim.begin()
      meter.begin()
    },
  }
  watchRequests(socket, connection)
  const push = socket.push.bind(socket)
  socket.push = (chunk: unknown, encoding) => {
    if (chunk instanceof Uint8Array) {
      interim.read(chunk)
      meter.arrived()
    }
    const fault = interim.isEndless
      ? new EndlessAnswer(`more than ${maxInterim} interim responses`)
      : meter.fault
    if (fault === undefined) return push(chunk, encoding)
    socket.destroy(fault)
    return false
  }
  boundReads(socket, meter)
  const emit = socket.emit.bind(socket) as (...event: unknown[]) => boolean
  // The library parses all that has come in this event.
  socket.emit = (...event: unknown[]) =>
    event[0] === 'readable' && connection.charge !== undefined
      ? connection.charge(() => emit(...event))
      : emit(...event)
}

/** Lets the library read no more than it may parse. It gives back what it has read while it is paused. */
function boundReads(socket: Socket, meter: AnswerMeter): void {
  const read = socket.read.bind(socket)
  const unshift = socket.unshift.bind(socket)
  socket.read = (size?: number) => {
    const { readableLength } = socket
    if (size !== undefined || readableLength === 0) return read(size) as unknown
    const { room } = meter
    if (meter.fault !== undefined) {
      socket.destroy(meter.fault)
      return null
    }
    // The rest of a broken connection is read at once.
    const bytes = socket.destroyed ? readableLength : Math.min(room, readableLength)
    meter.saw(bytes)
    return read(bytes) as unknown
  }
  socket.unshift = (chunk: Uint8Array) => {
    meter.saw(-chunk.length)
    unshift(chunk)
  }
}
