// Two calls of applications of their own that come to talk with each other: each side keeps its own hooks and files.
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { Talk } from '../bridge/talk.ts'
import type { TalkServices } from '../bridge/talk.ts'
import type { Leg } from '../leg/leg.ts'

/** A leg, and what its own application gives to a talk. */
export interface Party {
  readonly leg: Leg
  readonly services: TalkServices
}

/** When media have not connected the two by then, they part. */
const maxSetUpMs = 20_000

/** They hear each other from now on. The verbs of each wait for the end by `talkToItsEnd`. */
export function connect(caller: Party, agent: Party): Talk {
  const talk = new Talk(
    {
      legs: [caller.leg, agent.leg],
      names: ['the caller', 'the agent'],
      capture: { parent: [], child: [] },
      captureHook: undefined,
      exitsMediaPath: false,
      maxSetUpMs,
    },
    servicesOf(caller, agent),
  )
  talk.start()
  return talk
}

/** Hooks and relative addresses are those of the application that the leg in question has. */
function servicesOf(caller: Party, agent: Party): TalkServices {
  const of = (leg: Leg): TalkServices => (leg === caller.leg ? caller : agent).services
  const nested: NestedVerbs = {
    run: (run) => of(run.leg).nested.run(run),
    prepare: (run) => of(run.leg).nested.prepare(run),
    beside: (run) => of(run.leg).nested.beside(run),
    ask: (leg, ...question) => of(leg).nested.ask(leg, ...question),
    goOn: (leg, verbs) => of(leg).nested.goOn(leg, verbs),
    handOver: (leg, hook) => of(leg).nested.handOver(leg, hook),
    tell: (leg, ...report) => of(leg).nested.tell(leg, ...report),
  }
  return {
    ...agent.services,
    nested,
    refer: (referral, by) => of(by).refer(referral, by),
  }
}
