import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { covers } from '../../test/support/covers.ts'
import { signatureHeaders } from './signing.ts'

describe('signatureHeaders', () => {
  // This is the example of the Standard Webhooks and Svix documentation.
  it(
    'signs as the published vector of Standard Webhooks says',
    covers({
      section: 'Not shown',
      says: 'How webhook payloads are signed.',
      chosen: 'HMAC-SHA256 over time and body, in the header existing clients read and as Standard Webhooks.',
    }),
    () => {
      const headers = signatureHeaders({
        secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
        id: 'msg_loFOjxBNrRLzqYUf',
        at: 1_731_705_121_000,
        body: '{"event_type":"ping","data":{"success":true}}',
      })
      expect(headers).toMatchObject({
        'webhook-id': 'msg_loFOjxBNrRLzqYUf',
        'webhook-timestamp': '1731705121',
        'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
      })
    },
  )

  it(
    'signs timestamp and body for existing clients, with the secret as it is stored',
    covers({
      section: 'Not shown',
      says: 'How webhook payloads are signed.',
      chosen: 'HMAC-SHA256 over time and body, in the header existing clients read and as Standard Webhooks.',
    }),
    () => {
      const { 'Jambonz-Signature': signature } = signatureHeaders({
        secret: 'wh_secret_abc',
        id: 'msg_1',
        at: 1_700_000_000_999,
        body: '{"a":"é"}',
      })
      const expected = createHmac('sha256', 'wh_secret_abc').update('1700000000.{"a":"é"}').digest('hex')
      expect(signature).toBe(`t=1700000000,v1=${expected}`)
    },
  )

  it('treats a plain secret as the bytes of its text', () => {
    const plain = signatureHeaders({ secret: 'wh_secret_abc', id: 'msg_1', at: 0, body: '{}' })
    const written = `whsec_${Buffer.from('wh_secret_abc').toString('base64')}`
    const standard = signatureHeaders({ secret: written, id: 'msg_1', at: 0, body: '{}' })
    expect(plain['webhook-signature']).toBe(standard['webhook-signature'])
  })

  it('names the message but signs nothing without a secret', () => {
    expect(signatureHeaders({ secret: undefined, id: 'msg_1', at: 1000, body: '{}' })).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1',
    })
  })
})
