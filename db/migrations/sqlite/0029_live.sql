CREATE TABLE `live_events` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text,
	`name` text NOT NULL,
	`data` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `live_events_at` ON `live_events` (`at`);