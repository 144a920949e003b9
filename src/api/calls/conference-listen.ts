// The routes by which an audio server would hear a conference. They are a known part of the interface, so the refusal
// names them. The OpenAPI document promises none of them, as this release does not serve them.
import type { HttpRoute } from '../../http/route.ts'
import { notServed } from '../../lib/not-served.ts'
import { everyone } from '../define/route.ts'

const cure =
  'Let a call that takes part send its sound to the server: `listen` in `config` or `dial`, or a call of its own (`POST /Calls`) that is muted in the conference.'

export const conferenceListenRoutes: readonly HttpRoute[] = (['GET', 'POST', 'DELETE'] as const).map(
  (method) => ({
    method,
    path: '/Accounts/{AccountSid}/Conferences/{ConferenceName}/listen',
    access: everyone,
    status: 200,
    async handle() {
      throw notServed('listen of a conference', cure)
    },
  }),
)
