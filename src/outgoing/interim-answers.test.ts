// RFC 9110 §15.2: a client reads past each interim response, also one that it did not ask for.
import { afterEach, describe, expect, it } from 'vitest'
import { createServer } from 'node:net'
import { listenLocally } from '../../test/support/local-http.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from './create-outgoing.ts'
import { InterimAnswers } from './interim-answers.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

const interim = 'HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n'
const final = 'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'

function readIn(text: string, bytes: number): string {
  const answers = new InterimAnswers()
  answers.begin()
  const chunks: Buffer[] = []
  for (let at = 0; at < text.length; at += bytes) chunks.push(Buffer.from(text.slice(at, at + bytes)))
  for (const chunk of chunks) answers.read(chunk)
  return Buffer.concat(chunks).toString()
}

describe('a 100 Continue', () => {
  it.each([1, 2, 3, 7, 11, 12, 13, 35, 1000])(
    'becomes a 102 before each final status and nowhere else, in chunks of %i bytes',
    (bytes) => {
      const expected = interim.replace('100', '102')
      expect(readIn(`${interim}\r\n${interim}${final}${interim}`, bytes)).toBe(
        `${expected}\r\n${expected}${final}${interim}`,
      )
      expect(readIn(`HTTP/1.1 103 Early Hints\r\n\r\n${interim}${final}`, bytes)).toBe(
        `HTTP/1.1 103 Early Hints\r\n\r\n${expected}${final}`,
      )
    },
  )

  it.each(['HTTP/1.1 101 Switching\r\n\r\n', 'HTTP/1.0 200 OK\r\n\r\n', 'SSH-2.0-OpenSSH\r\n'])(
    'is left alone after %j',
    (before) => {
      expect(readIn(before + interim, 5)).toBe(before + interim)
    },
  )

  it('is read past on a kept-alive connection, and a body that looks like one is left as it is', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.on('data', () => {
        for (const char of interim) socket.write(char)
        socket.write(final)
      })
    })
    const listening = await listenLocally(server)
    const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
    closing.push(outgoing, listening)
    for (let count = 0; count < 6; count += 1) {
      const answer = await outgoing.request({
        url: listening.url,
        method: 'GET',
        subject: 'the hook',
        answerTimeoutMs: 60_000,
        totalTimeoutMs: 60_000,
        maxBodyBytes: 1000,
      })
      expect([answer.status, answer.body.toString()]).toEqual([200, 'HTTP/1.1 100 Continue\r\n\r\n'])
    }
    // The HTTP library may hold two connections for requests that follow each other at once.
    expect(connections).toBeLessThan(3)
  })

  it('is read past a hundred times, and then the connection is closed', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', () => void socket.write(interim.repeat(40_000) + final))
    })
    const listening = await listenLocally(server)
    const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
    closing.push(outgoing, listening)
    const asked = outgoing.request({
      url: listening.url,
      method: 'GET',
      subject: 'the hook',
      answerTimeoutMs: 60_000,
      totalTimeoutMs: 60_000,
      maxBodyBytes: 1000,
    })
    await expect(asked).rejects.toMatchObject({
      code: 'hook_too_large',
      message: 'the hook answered with more than 100 interim responses',
    })
  })
})
