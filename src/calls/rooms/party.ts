// A talk between two calls that each have an application of their own: each side keeps its own hooks and files.
import type { NestedVerbs } from '../application/nested-verbs.ts'
import { Talk, type TalkServices } from '../bridge/talk.ts'
import type { Leg } from '../leg/leg.ts'

/** A leg, and the services of its own application for a talk. */
export interface Party {
  readonly leg: Leg
  readonly services: TalkServices
}

/** The two part if media have not connected them within this time. */
const maxSetUpMs = 20_000

/** Connects the two, so that they hear each other. The verb of each waits for the end in `talkToItsEnd`. */
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

/** Returns services that use, for each leg, the hooks and relative addresses of that leg's application. */
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
