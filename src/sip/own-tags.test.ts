// INVITEs that one node sends directly to another node of the same platform.
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openStage, outgoing, sdp, type Stage } from '../../test/support/sip-stage.ts'
import { headerOf } from './message/message.ts'
import { tagOf } from './message/name-addr.ts'

const sealOf = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('hex')

async function tagSentBy(key: string, mustLeave: boolean): Promise<string> {
  const stage = await openStage({ seal: sealOf(key) })
  stage.agent.invite({ ...outgoing, mustLeave })
  await stage.soon()
  return tagOf(headerOf(stage.peer.last('INVITE'), 'from')) ?? ''
}

async function calls(stage: Stage, tag: string, lines: readonly string[] = []): Promise<string> {
  stage.peer.send('INVITE', { tag, toTag: '', body: sdp.content, lines })
  await stage.soon()
  return stage.peer.starts.at(-1) ?? ''
}

const node = (key: string): Promise<Stage> => openStage({ seal: sealOf(key) })

describe('an INVITE that must leave the platform', () => {
  it('is refused as a loop by another node of it', async () => {
    const other = await node('one platform')
    expect(await calls(other, await tagSentBy('one platform', true))).toBe('482')
    expect(other.invites).toEqual([])
  })

  it('is taken by another platform', async () => {
    const other = await node('another platform')
    await calls(other, await tagSentBy('one platform', true))
    expect(other.invites).toHaveLength(1)
  })

  it('is taken where a proxy has passed it on', async () => {
    const other = await node('one platform')
    const via = 'Via: SIP/2.0/UDP 192.0.2.9:5060;branch=z9hG4bKproxied'
    await calls(other, await tagSentBy('one platform', true), [via])
    expect(other.invites).toHaveLength(1)
  })
})

it('an INVITE that may come back is taken', async () => {
  const other = await node('one platform')
  await calls(other, await tagSentBy('one platform', false))
  expect(other.invites).toHaveLength(1)
})
