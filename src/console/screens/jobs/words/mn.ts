import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'Ажлууд',
  job: 'Ажил',
  state: 'Төлөв',
  last: 'Сүүлийн ажиллалт',
  next: 'Дараагийн ажиллалт',
  took: 'Үргэлжилсэн',
  run: 'Одоо ажиллуулах',
  runOf: 'Одоо ажиллуулах: {name}',
  asked: '{name} ажиллуулахыг хүслээ',
  idle: 'Хүлээж буй',
  running: 'Ажиллаж буй',
  stuck: 'Гацсан',
  off: 'Унтраалттай',
  OK: 'Амжилттай',
  FAILED: 'Амжилтгүй',
  LOST: 'Алдагдсан',
  never: 'Хараахан ажиллаагүй',
  schedule: 'Хуваарь',
  every: 'Процесс бүрд',
  asks: '{at}-д хүссэн',
  success: 'Сүүлийн амжилт',
  areStuck: { one: '{n} ажил гацсан:', other: '{n} ажил гацсан:' },
  haveFailed: { one: '{n} ажил сүүлд амжилтгүй болсон:', other: '{n} ажил сүүлд амжилтгүй болсон:' },
} satisfies Translation<typeof en>
