// The rules for calls that users make.
import type { RuleGroup } from './rule-group.ts'

export const userCall = {
  title: 'Calls from SIP users',
  question: 'Which application takes a call that a user of an account makes?',
  rules: {
    'user-hook-application': {
      sentence: 'The registration hook has named an application for the call.',
      decides: 'That application takes the call.',
    },
    'user-dialled-application': {
      sentence: 'The user may dial applications, and has dialled one: `app-` and its sid.',
      decides: 'That application takes the call. A name that is not a sid is refused with `no_application`.',
    },
    'user-named-application': {
      sentence: 'The user may dial applications, and its INVITE names one: the header `X-Application-Sid`.',
      decides: 'That application takes the call. A value that is not a sid is refused with `no_application`.',
    },
    'user-dialled-queue': {
      sentence: 'The user may take callers out of queues, and has dialled one: `queue-` and its name.',
      decides:
        'The user is answered, and talks with the next caller of the queue of its account. It is hung up when none comes within 5 s.',
    },
    'user-dialled-conference': {
      sentence: 'The user may dial applications, and has dialled a conference: `conference-` and its name.',
      decides:
        'The user is answered, and joins the conference of that name of its account, which begins if it has not begun.',
    },
    'user-dialled-user': {
      sentence: 'The user may call others, and has dialled a user of its own realm, who is registered.',
      decides: 'The phones of that user ring. No application is asked.',
    },
    'user-device-application': {
      sentence:
        'The account has an application for calls of its devices, and the user has dialled anything else, also what its client does not allow.',
      decides: 'That application takes the call.',
    },
    'user-may-not-dial-applications': {
      sentence: 'The user has dialled an application, which its client does not allow.',
      decides: 'The call is refused with `direct_app_calling_off`.',
    },
    'user-may-not-dial-queues': {
      sentence: 'The user has dialled a queue, which its client does not allow.',
      decides: 'The call is refused with `direct_queue_calling_off`.',
    },
    'user-may-not-dial-conferences': {
      sentence: 'The user has dialled a conference, and its client does not allow it to dial applications.',
      decides: 'The call is refused with `direct_app_calling_off`.',
    },
    'user-not-registered': {
      sentence:
        'The user may call others, and has dialled a user of its own realm, none of whose phones is registered.',
      decides: 'The call is refused with `user_unavailable`.',
    },
    'user-no-application': {
      sentence: 'No user that the caller may call has this name.',
      decides: 'The call is refused with `no_application`.',
    },
  },
} as const satisfies RuleGroup
