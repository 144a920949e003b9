// The interpreter of the tables of the transaction machines of RFC 3261 §17. No sockets, no timers, no side effects.

/** For each state and input: the next state, then the actions in order. */
export type Machine<State extends string, Input extends string, Action extends string> = {
  readonly [S in State]: { readonly [I in Input]?: readonly [State, ...Action[]] }
}

export interface Step<State extends string, Action extends string> {
  readonly state: State
  readonly actions: readonly Action[]
}

/** Returns undefined when the state ignores the input. */
export function step<State extends string, Input extends string, Action extends string>(
  machine: Machine<State, Input, Action>,
  from: State,
  input: Input,
): Step<State, Action> | undefined {
  const entry: readonly [State, ...Action[]] | undefined = machine[from][input]
  if (entry === undefined) return undefined
  const [state, ...actions] = entry
  return { state, actions }
}

/** Reports whether a state handles an input: a timer that the new state does not handle is stopped on entering it. */
export function listensFor<State extends string, Input extends string, Action extends string>(
  machine: Machine<State, Input, Action>,
  state: State,
  input: Input,
): boolean {
  return machine[state][input] !== undefined
}
