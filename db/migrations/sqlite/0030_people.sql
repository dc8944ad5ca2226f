CREATE TABLE `erasures` (
	`customer_id` text PRIMARY KEY NOT NULL,
	`shop_id` text NOT NULL,
	`at` integer NOT NULL,
	`order_ids` text NOT NULL,
	`other_ids` text NOT NULL,
	`finished_at` integer,
	`listed_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `erasures_at` ON `erasures` (`at`);--> statement-breakpoint
CREATE INDEX `erasures_open` ON `erasures` (`at`) WHERE finished_at is null or listed_at is null;--> statement-breakpoint
ALTER TABLE `customers` ADD `erased_at` integer;--> statement-breakpoint
CREATE INDEX `addresses_entered` ON `addresses` (`entered_by`) WHERE entered_by is not null;--> statement-breakpoint
CREATE INDEX `gift_cards_customer` ON `gift_cards` (`customer_id`) WHERE customer_id is not null;