export default {
  title: 'Settings verification',
} as const
