// A failure of a start that an operator can repair: the message is one sentence that names the setting and the cure.
export class StartError extends Error {}
