CREATE TABLE `list_blocks` (
	`shop_id` text NOT NULL,
	`list` text NOT NULL,
	`last` text NOT NULL,
	`records` integer NOT NULL,
	PRIMARY KEY(`shop_id`, `list`, `last`),
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE TABLE `live_events` (
	`id` text PRIMARY KEY NOT NULL,
	`shop_id` text,
	`name` text NOT NULL,
	`data` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `live_events_at` ON `live_events` (`at`);--> statement-breakpoint
ALTER TABLE `shops` ADD `time_zone` text DEFAULT 'UTC' NOT NULL;--> statement-breakpoint
CREATE INDEX `carts_begun` ON `carts` (`shop_id`,`created_at`,`status`) WHERE draft is null;--> statement-breakpoint
CREATE INDEX `disputes_open` ON `disputes` (`shop_id`,`id`) WHERE status = 'OPEN';
