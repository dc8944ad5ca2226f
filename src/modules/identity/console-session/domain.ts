import { minuteMs } from '../../../lib/day.ts'

/** For how long a console may lie idle before the password is asked for again. */
export const idleMs = 120 * minuteMs

export const sessionPath = '/console/session'

/** Cookies of one machine are shared by all its ports: each instance there has a name of its own. */
export const cookieName = ({ isSecure, port }: { isSecure: boolean; port: string }): string =>
  isSecure ? '__Secure-souk_console' : `souk_console_${port}`

/** What tokens of the first run are about. */
export const setupSubject = 'instance'
