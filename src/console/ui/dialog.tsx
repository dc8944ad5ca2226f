import { signal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { common } from '../lib/i18n/common.ts'
import { notify } from '../lib/live/toasts.ts'
import { sessionStatus } from '../lib/session/session.ts'
import { dirtySources, isDirty } from '../lib/session/unsaved-changes.ts'
import { Button } from './button.tsx'
import { Toasts } from './toast.tsx'

/** Those that are open, the one in front last. */
const openDialogs = signal<readonly symbol[]>([])

/** What is said in passing: in the window in front, since all that is behind one can be neither pressed nor read aloud. */
export const PageToasts = () => (openDialogs.value.length === 0 ? <Toasts /> : null)

/** A window over the page: the keyboard stays in it, Escape closes it, and what had the focus has it again. */
export function Dialog({
  title,
  onClose,
  children,
  wide,
  typing,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
  wide?: boolean
  /** One opens it to type: its first field has the focus. */
  typing?: boolean
}) {
  const box = useRef<HTMLDialogElement>(null)
  const [me] = useState(() => Symbol(title))
  const id = useId()
  // Behind the login it is not drawn, and would keep the keyboard all the same.
  const isAway = sessionStatus.value === 'locked'
  useEffect(() => {
    const dialog = box.current
    if (!dialog || isAway) return
    const before = document.activeElement
    dialog.showModal()
    openDialogs.value = [...openDialogs.peek(), me]
    if (typing) dialog.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)')?.focus()
    return () => {
      openDialogs.value = openDialogs.peek().filter((one) => one !== me)
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [isAway])
  return (
    <dialog
      ref={box}
      class={wide ? 'wide' : undefined}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClose={() => {
        // Browsers close it themselves where Escape is pressed again and again: it is asked, as the first time.
        if (!openDialogs.peek().includes(me)) return
        box.current?.showModal()
        onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label={common('close')} onPress={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {openDialogs.value.at(-1) === me && <Toasts />}
    </dialog>
  )
}

type Question = {
  readonly title: string
  readonly body?: ComponentChildren
  /** What the button says that does it: what it does, not "OK". */
  readonly action: string
  /** What the other says; "Cancel" where nothing is said. */
  readonly otherwise?: string
  readonly danger?: boolean
}
/** Which button was pressed; undefined where neither was: it was closed, or another question came. */
export type QuestionAnswer = 'action' | 'otherwise' | undefined
const openQuestion = signal<(Question & { answer: (chosen: QuestionAnswer) => void }) | undefined>(undefined)

/** Asks where both buttons do something, so that closing the question is a third answer. */
export function askChoice(question: Question): Promise<QuestionAnswer> {
  openQuestion.value?.answer(undefined)
  return new Promise((resolve) => {
    openQuestion.value = {
      ...question,
      answer(chosen) {
        openQuestion.value = undefined
        resolve(chosen)
      },
    }
  })
}

/** Takes a question back: what it is about is shown no more. */
export const dismissQuestion = (): void => openQuestion.value?.answer(undefined)

/** Asks before what cannot be undone. Resolves with whether to do it. */
export const confirm = async (question: Question): Promise<boolean> => (await askChoice(question)) === 'action'

/** Whether a form is being sent: from its button to what is shown of it. */
const isSending = (): boolean => document.querySelector('form[aria-busy=true]') !== null
const checkMs = 100

/**
 * Asks before what was typed is lost, or what is shown this once. Where it is saved meanwhile there is nothing to ask any more, and one goes; where it was being sent, and what
 * came of it is shown now, one stays and sees.
 * @param but what is not lost
 */
export function askToLeave(but?: ReadonlySet<symbol>): Promise<boolean> {
  const wasSending = isSending()
  const isOnce = !wasSending && isDirty(but, 'shown once')
  const isUpload = !wasSending && !isOnce && !isDirty(but, 'typed')
  const body = <p>{common(wasSending ? 'leaveSending' : isOnce ? 'leaveOnceText' : isUpload ? 'leaveUploadText' : 'leaveText')}</p>
  const action = common(isOnce ? 'leaveOnce' : 'leave')
  const title = common(isOnce ? 'leaveOnceTitle' : isUpload ? 'leaveUploadTitle' : 'leaveTitle')
  const chosen = confirm({ title, body, action, otherwise: common('stay'), danger: true })
  const mine = openQuestion.peek()
  const looking = setInterval(() => {
    if (openQuestion.peek() !== mine || isSending()) return
    if (!isDirty(but)) mine?.answer('action')
    else if (wasSending) mine?.answer(undefined)
  }, checkMs)
  return chosen.finally(() => clearInterval(looking))
}

/** Where that is asked: once, in the shell. */
export function QuestionDialog() {
  const question = openQuestion.value
  if (!question) return null
  const { title, body, action, otherwise = common('cancel'), danger, answer } = question
  return (
    <Dialog key={title} title={title} onClose={() => answer(undefined)}>
      {body}
      <div class="form-actions">
        <Button kind={danger ? 'danger' : 'primary'} onPress={() => answer('action')}>
          {action}
        </Button>
        <Button onPress={() => answer('otherwise')}>{otherwise}</Button>
      </div>
    </Dialog>
  )
}

/** Closes the window that one is in, as its cross does; undefined where one is in none. */
export const CloseDialogContext = createContext<(() => Promise<void>) | undefined>(undefined)

/**
 * A form in a window over the page: what was typed is asked about before it is closed without being sent. While it is sent it stays, since what comes
 * of it may be a code that nobody can show again.
 */
export function FormDialog({ onClose, children, ...rest }: Parameters<typeof Dialog>[0]) {
  // What waits in the page behind it is not lost by that.
  const [before] = useState(dirtySources)
  const isOver = useRef(false)
  useLayoutEffect(
    () => () => {
      isOver.current = true
    },
    [],
  )
  async function close() {
    if (isSending()) return notify(common('isSending'), { about: 'sending' })
    if (isDirty(before) && !(await askToLeave(before))) return
    // What was sent meanwhile has closed it itself.
    if (!isOver.current) onClose()
  }
  return (
    <Dialog {...rest} onClose={close} typing>
      <CloseDialogContext.Provider value={close}>{children}</CloseDialogContext.Provider>
    </Dialog>
  )
}
