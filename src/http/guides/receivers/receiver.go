package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"
)

var secret = []byte(os.Getenv("WEBHOOK_SECRET"))

func verified(timestamp string, body []byte, signature string) bool {
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-at)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	wanted := "v1=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(wanted), []byte(signature))
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || !verified(r.Header.Get("X-Brokerage-Timestamp"), body, r.Header.Get("X-Brokerage-Signature")) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent) // first the answer, then the work: deduplicate by id
	var delivery struct {
		ID    int64  `json:"id"`
		Event string `json:"event"`
	}
	if json.Unmarshal(body, &delivery) == nil {
		fmt.Println(delivery.ID, delivery.Event)
	}
}

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
